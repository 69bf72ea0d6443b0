import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from '@parley/testing';
import type pg from 'pg';
import type { BenchOrganization } from '../organization';

export interface FloodBench {
  stack: Stack;
  pool: pg.Pool;
  /** The organization that floods, and the one that is measured. */
  busy: BenchOrganization;
  other: BenchOrganization;
}

/** One flood. Add it to `floods`. */
export interface Flood {
  name: string;
  /** Stores what the flood reads. Called once. */
  seed?: (bench: FloodBench) => Promise<void>;
  /** Keeps the flood up until the signal is aborted. */
  keepUp: (bench: FloodBench, signal: AbortSignal) => Promise<void>;
  /** One unit of work of the other organization. Throws when it fails. */
  call: (bench: FloodBench) => Promise<void>;
}

/** More than the gateway has connections to a service. */
const socketCount = 600;

/** Keeps `socketCount` connections open that send a text, and from then on a byte each second. */
export async function keepSockets(
  { url }: Stack,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const { hostname, port } = new URL(url);
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {}).resume();
      socket.write(text);
      const trickle = setInterval(() => socket.write('a'), 1_000);
      const stop = () => socket.destroy();
      signal.addEventListener('abort', stop);
      await new Promise((resolve) => socket.once('close', resolve));
      clearInterval(trickle);
      signal.removeEventListener('abort', stop);
      await sleep(100);
    }
  };
  await Promise.all(Array.from({ length: socketCount }, one));
}

/** Keeps a number of requests open. Refused ones are sent again after a second. */
export async function keepRequests(
  count: number,
  signal: AbortSignal,
  send: () => Promise<number>,
): Promise<void> {
  const one = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await send().catch(() => 0);
      if (status !== 200) await sleep(1_000);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
}

/** Sends a request of an organization, reads the answer and returns its status. */
export async function statusOf(
  { stack: { url } }: FloodBench,
  { key }: BenchOrganization,
  path: string,
  init: RequestInit = {},
): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(url + path, { ...init, headers });
  await response.arrayBuffer();
  return response.status;
}

/** The same for a call that is measured. */
export async function succeed(...args: Parameters<typeof statusOf>): Promise<void> {
  const status = await statusOf(...args);
  if (status !== 200) throw new Error(`${args[2]} answered ${status}`);
}
