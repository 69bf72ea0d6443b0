import { once } from 'node:events';
import { type Json, reportRefusal } from '@parley/contracts';
import { createCallerChecks } from './check-callers';
import { tooManyStreams } from './errors';
import type { CallerContext } from './exchange';
import { onClosed } from './on-closed';
import type { OpenStreams } from './open-streams';

export interface EventStreamLimits {
  /** Streams that a shutdown of the process ends. */
  openStreams: OpenStreams;
  /** Maximum open streams of this process, by caller and by organization. */
  perCaller: number;
  perOrganization: number;
  /** Time between comments, with which each end sees that the other one is there. */
  commentEveryMs?: number;
  /** Time between two checks of the caller. Nothing is sent after a longer time without one. */
  checkEveryMs?: number;
  clock?: () => number;
  /** Maximum time for which a stream is open. The client connects again. */
  maxOpenMs?: number;
  /** Time after which a client that reads nothing is disconnected. */
  stuckAfterMs?: number;
}

export interface EventStream {
  /** Aborted when the stream has ended. */
  readonly signal: AbortSignal;
  /** Sends an event and waits until the client can take more. Does nothing after the end. */
  send(event: { id?: string; event?: string; data: Json }): Promise<void>;
  /** Ends the stream, after a last text. */
  end(last?: string): void;
}

/** Time for a client to read the rest of an ended stream. */
const endWithinMs = 1_000;

export type EventStreams = ReturnType<typeof createEventStreams>;

/** Streams of server-sent events, counted by caller and organization (docs/adr/0057). */
export function createEventStreams({
  openStreams,
  perCaller,
  perOrganization,
  commentEveryMs = 15_000,
  checkEveryMs = 1_000,
  clock = () => performance.now(),
  maxOpenMs = 60 * 60_000,
  stuckAfterMs = 60_000,
}: EventStreamLimits) {
  const checkCaller = createCallerChecks({ checkEveryMs, clock });
  const open = new Map<string, number>();
  const count = (key: string, change: number) => {
    const now = (open.get(key) ?? 0) + change;
    if (now === 0) open.delete(key);
    else open.set(key, now);
    return now;
  };

  const keysOf = ({ tenant, type, id }: CallerContext['caller']) => ({
    caller: `${tenant} ${type} ${id}`,
    organization: String(tenant),
  });
  /**
   * Counts a stream or a wait of a caller, and returns the function that ends it. Throws when the
   * caller or the organization has too many.
   */
  const admit = (caller: CallerContext['caller']): (() => void) => {
    const keys = Object.entries(keysOf(caller)).map(([kind, key]) => `${kind} ${key}`);
    const [ofCaller, ofOrganization] = keys.map((key) => open.get(key) ?? 0);
    if (ofCaller! >= perCaller || ofOrganization! >= perOrganization) {
      reportRefusal('event_streams');
      throw tooManyStreams();
    }
    for (const key of keys) count(key, 1);
    let isOpen = true;
    return () => {
      if (isOpen) for (const key of keys) count(key, -1);
      isOpen = false;
    };
  };

  return {
    admit,
    /**
     * Begins a stream as the answer to a request. Throws when the caller or the organization has
     * too many. `position`: the id up to which everything has been sent; comments bring it to
     * clients that few events match. `leave`: of `admit`, if the caller has been admitted before.
     */
    open(
      { caller, request, response, checkAgain }: CallerContext,
      position: () => string | undefined = () => undefined,
      headers: Record<string, string> = {},
      leave = admit(caller),
    ): EventStream {
      const controller = new AbortController();
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store, no-transform',
        // Proxies such as nginx would otherwise keep events back.
        'X-Accel-Buffering': 'no',
        ...headers,
      });
      response.write('retry: 2000\n\n');
      // A client that does not read would keep an ended stream, and with it a shutdown, waiting.
      const end = (last?: string) => {
        if (response.writableEnded) return;
        clearInterval(comments);
        check.remove();
        response.end(last === undefined ? undefined : `data: ${last}\n\n`);
        const leftover = setTimeout(() => response.destroy(), endWithinMs);
        response.once('close', () => clearTimeout(leftover));
      };
      const check = checkCaller({ checkAgain, refuse: () => end() });
      const comments = setInterval(() => {
        const at = position();
        // An event without data is not dispatched, but its id is kept for the next connection.
        response.write(at === undefined ? ':\n\n' : `:\nid: ${at}\n\n`);
      }, commentEveryMs);
      const remove = openStreams.add(() => end());
      const limit = setTimeout(() => end(), maxOpenMs);
      onClosed(response, () => {
        remove();
        check.remove();
        clearInterval(comments);
        clearTimeout(limit);
        leave();
        controller.abort();
      });
      if (request.method === 'HEAD') end();
      const { signal } = controller;
      return {
        signal,
        end,
        async send({ id, event, data }) {
          await check.whenRecent();
          if (signal.aborted || response.writableEnded) return;
          const lines = [
            ...(id === undefined ? [] : [`id: ${id}`]),
            ...(event === undefined ? [] : [`event: ${event}`]),
          ];
          // JSON has no line breaks.
          if (response.write(`${[...lines, `data: ${JSON.stringify(data)}`].join('\n')}\n\n`))
            return;
          const stuck = setTimeout(() => response.destroy(), stuckAfterMs);
          await once(response, 'drain', { signal }).catch(() => {});
          clearTimeout(stuck);
        },
      };
    },
  };
}
