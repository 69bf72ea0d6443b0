import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Db } from '@parley/db';
import { writePull } from '@parley/resources';
import { type Handler, createAnswerPace } from '@parley/service';

/**
 * Time after which a client that reads nothing is disconnected. The transaction of the pull may
 * be idle for 10 s.
 */
const stuckAfterMs = 5_000;

/**
 * `POST /v1/sync/pull`: every definition of the environment as it was pushed, sent
 * while it is read.
 */
export const syncPull = ({ db }: { db: Db }): Handler<'syncPull'> => {
  const pace = createAnswerPace();
  return async (_input, { scope, response, signal }) => {
    try {
      await writePull(db, scope, async (piece) => {
        await pace.piece(String(scope.tenant), Buffer.byteLength(piece), signal);
        await send(response, piece, signal);
      });
    } catch (error) {
      // The client sees that the answer is incomplete.
      if (!response.headersSent) throw error;
      response.destroy();
      if (!signal.aborted) throw error;
      return null;
    }
    response.end();
    return null;
  };
};

async function send(response: ServerResponse, piece: string, signal: AbortSignal): Promise<void> {
  if (!response.headersSent)
    response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
  if (response.write(piece)) return;
  const stuck = setTimeout(() => response.destroy(), stuckAfterMs);
  try {
    await once(response, 'drain', { signal });
  } finally {
    clearTimeout(stuck);
  }
}
