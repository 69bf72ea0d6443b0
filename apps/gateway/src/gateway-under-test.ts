import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { OpenStreams, closeServer, silentLogger, trustedProxies } from '@parley/service';
import { createNetworkAddress } from './callers';
import { createConsole } from './console-files';
import { createGatewayApp } from './create-gateway-app';
import { type BodyLimits, createIncomingBodies } from './incoming-bodies';
import type { UpstreamName } from './routes';
import { serverOptions, tuneServer } from './sockets';
import { createUpstreams } from './upstreams';

/** One request as the upstream received it. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: Buffer;
}

export interface TestUpstream {
  url: string;
  server: Server;
  seen: Seen[];
  close(): Promise<void>;
}

const listen = (server: Server, port = 0): Promise<number> =>
  new Promise((resolve) =>
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

const stop = (server: Server): Promise<void> => {
  server.closeAllConnections();
  return closeServer(server);
};

/**
 * Starts a server that the gateway forwards to. By default it reads the body and answers
 * `{ upstream: name }`.
 */
export async function startUpstream(
  name: string,
  answer: (seen: Seen, response: ServerResponse) => void = (_seen, response) => {
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ upstream: name }));
  },
  port = 0,
): Promise<TestUpstream> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the gateway closed the connection
    }
    const { method = '', url = '', headers, rawHeaders } = request;
    const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) };
    seen.push(one);
    answer(one, response);
  });
  const url = `http://127.0.0.1:${await listen(server, port)}`;
  return { url, server, seen, close: () => stop(server) };
}

/** Starts an upstream whose listener handles the request itself, including its body. */
export async function startRawUpstream(listener: RequestListener): Promise<TestUpstream> {
  const server = createServer(listener);
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    server,
    seen: [],
    close: () => stop(server),
  };
}

export interface TestGateway {
  url: string;
  port: number;
  server: Server;
  failures: string[];
  streams: OpenStreams;
  /** Routes whose requests were answered with their fixed reply. */
  fixedReplies: string[];
  close(): Promise<void>;
}

const mebibyte = 1024 * 1024;

export interface TestGatewayOptions {
  deadlineMs?: number;
  streamIdleMs?: number;
  /** Trusted proxies. */
  trusted?: string[];
  /** Options of the HTTP server. */
  options?: object;
  consoleFolder?: string;
  bodyLimits?: Partial<BodyLimits>;
  /** Connections to each service, without those of streams. */
  connections?: number;
}

export async function startGateway(
  urls: Partial<Record<UpstreamName, string>>,
  {
    deadlineMs = 30_000,
    streamIdleMs = 45_000,
    trusted = [],
    options = {},
    consoleFolder = '/none',
    bodyLimits = {},
    connections,
  }: TestGatewayOptions = {},
): Promise<TestGateway> {
  const failures: string[] = [];
  const fixedReplies: string[] = [];
  const address = (name: UpstreamName) => ({ url: urls[name], deadlineMs });
  const addresses = {
    chat: address('chat'),
    data: address('data'),
    'webhook-ingest': address('webhook-ingest'),
    'tool-executor': address('tool-executor'),
    manage: address('manage'),
  };
  const { upstreams, close } = createUpstreams(addresses, connections);
  const log = silentLogger();
  const streams = new OpenStreams();
  const app = createGatewayApp({
    upstreams,
    sendConsole: createConsole(consoleFolder),
    streams,
    streamIdleMs,
    isTrusted: trustedProxies(trusted),
    networkAddressOf: createNetworkAddress(trusted),
    bodies: createIncomingBodies({
      memoryBytes: 128 * mebibyte,
      graceMs: 5_000,
      minBytesPerSecond: 1_024,
      slowPerAddress: 64,
      ...bodyLimits,
    }),
    log,
    onUpstreamFailure: (upstream, reason) => failures.push(`${upstream} ${reason}`),
    onFixedReply: (route) => fixedReplies.push(route),
  });
  const server = createServer({ ...serverOptions, ...options }, app);
  tuneServer(server, app, log);
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    server,
    failures,
    streams,
    fixedReplies,
    async close() {
      await stop(server);
      await close();
    },
  };
}

/**
 * Sends bytes unchanged over a new connection and returns the answer: all data until the end, or a
 * pause of `quietMs`.
 */
export function sendRaw(port: number, text: string | Buffer, quietMs = 400): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(received);
    };
    let timer = setTimeout(finish, 10_000); // until the first byte: a busy machine is slow
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(finish, quietMs);
    });
    socket.on('error', finish);
    socket.on('close', finish);
  });
}

/** The JSON of a raw response. */
export const bodyOf = (raw: string): Record<string, unknown> =>
  JSON.parse(raw.slice(raw.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>;
