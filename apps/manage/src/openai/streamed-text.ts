import type { NumberedChunk } from '@parley/redis';

type Chunk = NumberedChunk['chunk'];
type FinishReason = 'stop' | 'length' | 'content_filter';

/** What a chunk of an execution means to a reader who cannot take back what was sent. */
export type StreamedText =
  { type: 'text'; text: string } | { type: 'end'; reason: FinishReason } | { type: 'failed'; reason: string };

/**
 * Reads the chunks of an execution as a text that only grows. When a step is begun again, nothing is sent until its new text is
 * longer than what was sent of it; a new text that begins differently is a failure.
 */
export function createStreamedText(): (chunk: Chunk) => StreamedText | null {
  /** What was sent of the current step. */
  let sent = '';
  /** The step's text since it was begun again; null while nothing has to be compared. */
  let repeated: string | null = null;
  let isBegun = false;
  let isStored = false;
  let separator = '';

  return (chunk) => {
    switch (chunk.type) {
      case 'start':
        // The answer is read again, from the stored execution: its text is that of the last step.
        isStored = isBegun;
        isBegun = true;
        return null;
      case 'start-step':
        if (isStored) return null;
        separator = sent === '' ? separator : '\n\n';
        sent = '';
        repeated = null;
        return null;
      case 'reset-step':
        repeated = sent === '' ? null : '';
        return null;
      case 'text-delta': {
        let text = chunk.delta as string;
        if (repeated !== null) {
          repeated += text;
          const isSame = repeated.length <= sent.length ? sent.startsWith(repeated) : repeated.startsWith(sent);
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
        if (repeated !== null && repeated !== sent) return { type: 'failed', reason: 'answer_restarted' };
        return { type: 'end', reason: reasons[chunk.finishReason as string] ?? 'stop' };
      case 'abort':
        return { type: 'failed', reason: 'cancelled' };
      case 'error':
        return { type: 'failed', reason: chunk.errorText as string };
      default:
        return null;
    }
  };
}

const reasons: Record<string, FinishReason> = { length: 'length', 'content-filter': 'content_filter' };
