import type { NumberedChunk } from '@parley/redis';

type Chunk = NumberedChunk['chunk'];

/** What a chunk of an execution means to a reader who cannot take back what was sent. */
export type StreamedText =
  { type: 'text'; text: string } | { type: 'end' } | { type: 'failed'; reason: string };

/**
 * Reads the chunks of an execution as a text that only grows. When a step is begun again, by
 * another model, by another process or from the stored execution, nothing is sent until its new
 * text is longer than what was sent of it. A new text that begins differently is a failure.
 */
export function createStreamedText(): (chunk: Chunk) => StreamedText | null {
  /** What was sent of the current step. */
  let sent = '';
  /** The step's text since it was begun again; null while nothing has to be compared. */
  let repeated: string | null = null;
  let isInStep = false;
  let separator = '';

  return (chunk) => {
    switch (chunk.type) {
      case 'start-step':
        isInStep = true;
        // The step that is begun again, or before it a tool call of the stored execution.
        if (repeated !== null) return null;
        separator = sent === '' ? separator : '\n\n';
        sent = '';
        return null;
      case 'finish-step':
        isInStep = false;
        if (repeated === sent) repeated = null;
        return null;
      case 'reset-step':
        // After a step that has ended, the next one is meant, of which nothing was sent.
        if (isInStep && sent !== '') repeated = '';
        return null;
      case 'text-delta': {
        let text = chunk.delta as string;
        if (repeated !== null) {
          repeated += text;
          const isSame =
            repeated.length <= sent.length ? sent.startsWith(repeated) : repeated.startsWith(sent);
          if (!isSame) return { type: 'failed', reason: 'answer_restarted' };
          if (repeated.length <= sent.length) return null;
          text = repeated.slice(sent.length);
          repeated = null;
        }
        if (text === '') return null;
        sent += text;
        text = separator + text;
        separator = '';
        return { type: 'text', text };
      }
      case 'finish':
        if (chunk.finishReason === 'other') return { type: 'failed', reason: 'person_answers' };
        if (repeated !== null && repeated !== sent)
          return { type: 'failed', reason: 'answer_restarted' };
        return { type: 'end' };
      case 'abort':
        return { type: 'failed', reason: 'cancelled' };
      case 'error':
        return { type: 'failed', reason: chunk.errorText as string };
      default:
        return null;
    }
  };
}
