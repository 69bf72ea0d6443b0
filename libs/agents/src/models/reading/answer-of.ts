import type { FinishReason } from '@parley/contracts';
import type { Answer } from './answer';
import type { ReplyText } from './reply-text';
import type { WrittenCalls } from './written-calls';

/**
 * What all readers do at the end of an answer. `named`: how it ended, by the provider's own word.
 */
export function answerOf(
  text: ReplyText,
  calls: WrittenCalls,
  ended: Pick<Answer, 'providerReason' | 'usage'> & {
    named: FinishReason | undefined;
    isPromptRefused?: boolean;
  },
): Answer {
  const { named, ...rest } = ended;
  const written = calls.list();
  const whole = text.end();
  const fitting = named ?? (written.length > 0 ? 'tool_calls' : 'stop');
  return {
    ...rest,
    text: whole,
    finishReason: text.isFull() ? 'length' : fitting,
    calls: written,
    droppedCalls: calls.dropped(),
  };
}
