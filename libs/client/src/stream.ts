import type { Usage } from './chat-types';
import { type Send, backoffMs, sleep } from './request';

/**
 * A chunk of the AI SDK's UI message stream. After `reset-step`, what the current step has
 * written is void.
 */
export type StreamChunk =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' | 'finish-step' | 'reset-step' | 'abort' }
  | { type: 'text-start' | 'text-end'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'finish'; finishReason?: string; messageMetadata?: { usage: Usage } }
  | { type: 'error'; errorText: string };

export interface StreamOptions {
  /** The number of the last chunk that was read. */
  after?: number;
  /** Aborts the request. */
  signal?: AbortSignal;
}

/**
 * Reads a stream to its end, and connects again when it is cut. `number` continues after a chunk. A
 * response 204 has no chunk.
 */
export async function* readStream(
  send: Send,
  path: string[],
  { after: first, query, signal }: StreamOptions & { query?: object },
): AsyncGenerator<{ number: number; chunk: StreamChunk }, void> {
  // Ids of a thread's stream name the execution as well.
  let after: number | string | undefined = first;
  for (let cuts = 0; ; cuts += 1) {
    const response: Response = await send({
      method: 'GET',
      path,
      query: { ...query, after },
      signal,
      isRaw: true,
    });
    if (response.status === 204) return;
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let text = '', read; !(read = await reader.read()).done;) {
        const events = (text + read.value).split('\n\n');
        text = events.pop()!;
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data === '[DONE]') return;
          const [, id, number] = /^id: ((?:\w+-)?(\d+))$/m.exec(event) ?? [];
          if (data === undefined || id === undefined) continue;
          after = id;
          yield { number: Number(number), chunk: JSON.parse(data) as StreamChunk };
          cuts = 0;
        }
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof SyntaxError) throw error;
    } finally {
      // Ends the request when the caller reads no further.
      await reader.cancel().catch(() => {});
    }
    await sleep(backoffMs(cuts), signal);
  }
}
