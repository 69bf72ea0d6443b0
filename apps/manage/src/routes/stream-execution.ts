import { findOpenExecution, findThread, findThreadOfCaller } from '@parley/agents';
import { textAt } from '@parley/contracts';
import type { Db } from '@parley/db';
import { seesAll } from '@parley/permissions';
import {
  type CallerContext,
  type EventStreams,
  type Handler,
  type Logger,
  notFound,
} from '@parley/service';
import type { NumberedChunk } from '@parley/redis';
import type { ExecutionStreams } from '../execution-streams';
import { executionOf, publicErrorOf } from '../visible-execution';

interface Handlers {
  streamExecution: Handler<'streamExecution'>;
  streamThread: Handler<'streamThread'>;
}

interface Deps {
  executionStreams: ExecutionStreams;
  streams: EventStreams;
  log: Logger;
}

export type SendExecution = ReturnType<typeof createSendExecution>;

/**
 * The number of a chunk after which a stream continues: `12`, or `3698432093388800-12` in a thread.
 * Null for another text; 0 for another execution.
 */
function positionIn(executionId: string, text: string): number | null {
  const [, execution = executionId, number] = /^(?:(\w{1,100})-)?(\d{1,7})$/.exec(text) ?? [];
  if (number === undefined) return null;
  return execution === executionId ? Number(number) : 0;
}

/**
 * Answers a request with the stream of an execution that the caller may see. `after`: a number for
 * the stream of one execution; a text for that of a thread, whose ids name the execution as well.
 * `leave`: of `streams.admit`, if the caller has been admitted before.
 */
export const createSendExecution =
  ({ executionStreams, streams, log }: Deps) =>
  async (
    context: CallerContext,
    id: string,
    after: number | string,
    leave?: () => void,
  ): Promise<void> => {
    const sent = textAt(context.request.headers['last-event-id']) ?? '';
    let position = positionIn(id, sent) ?? positionIn(id, String(after)) ?? 0;
    // The next execution of a thread begins at 0 again.
    const idOf = (seq: number) => (typeof after === 'number' ? String(seq) : `${id}-${seq}`);
    const isShown = seesAll(context.caller);
    const headers = { 'x-vercel-ai-ui-message-stream': 'v1' };
    const stream = streams.open(
      context,
      () => (position === 0 ? undefined : idOf(position)),
      headers,
      leave,
    );
    try {
      for await (const { seq, chunk } of executionStreams.read(context.scope, id, {
        after: position,
        signal: stream.signal,
      })) {
        await stream.send({ id: idOf(seq), data: isShown ? chunk : withoutValues(chunk) });
        position = seq;
      }
      if (!stream.signal.aborted) stream.end('[DONE]');
    } catch (error) {
      // The client connects again, and the request is answered with an error if the database is
      // still unavailable.
      log.warn({ err: error }, 'a stream of an execution was ended');
    } finally {
      stream.end();
    }
  };

export const createStreamExecutionHandlers = (db: Db, send: SendExecution): Handlers => ({
  async streamExecution({ params: { id }, query: { after } }, context) {
    await send(context, (await executionOf(db, context, id)).id, after);
    return null;
  },

  async streamThread({ params, query: { after } }, context) {
    const { scope, caller, response } = context;
    const isShown = seesAll(caller);
    // A thread in which the caller has started nothing is answered as an unknown one, so that no
    // one learns who has written.
    const thread = await (isShown
      ? findThread(db, scope, params.id)
      : findThreadOfCaller(db, scope, params.id, caller.id));
    if (thread === null) throw notFound('Thread not found', 'thread_not_found');
    const id = await findOpenExecution(db, scope, thread.id, isShown ? null : caller.id);
    if (id === null) response.writeHead(204).end();
    else await send(context, id, after);
    return null;
  },
});

/**
 * What a caller without `manage` gets: no arguments and results of tools, and no texts of errors.
 */
function withoutValues(chunk: NumberedChunk['chunk']): NumberedChunk['chunk'] {
  switch (chunk.type) {
    case 'tool-input-available':
      return { ...chunk, input: {} };
    case 'tool-output-available':
      return { ...chunk, output: null };
    case 'tool-output-error':
      return { ...chunk, errorText: 'The tool failed' };
    case 'error':
      return { ...chunk, errorText: publicErrorOf(chunk.errorText as string) };
    default:
      return chunk;
  }
}
