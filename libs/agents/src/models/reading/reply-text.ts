import { truncateBytes } from '../../threads/storable-text';

const names = ['think', 'thinking', 'thought', 'reasoning'];
const opening = new RegExp(`^\\s*<(${names.join('|')})>`, 'i');
const longestTag = '</reasoning>'.length;
/** Characters at the beginning that may be blanks before a tag, and its first characters. */
const maxHeldChars = 64;

export type ReplyText = ReturnType<typeof createReplyText>;

/**
 * Collects the text of an answer and writes it on as it arrives. Thoughts in a tag at the beginning
 * (`<think>…</think>`) are left out: servers that have no parser for their model's thoughts send
 * them as text. The text ends at `maxBytes`.
 */
export function createReplyText(maxBytes: number, write: (delta: string) => void) {
  let state: 'beginning' | 'thoughts' | 'text' = 'beginning';
  /**
   * At the beginning, what may be the first characters of a tag. In thoughts, what may be those of
   * the closing tag.
   */
  let held = '';
  let closing = /<\/think>/i;
  let hasThoughts = false;
  let text = '';
  let result: string | undefined;
  let leftBytes = maxBytes;

  function emit(delta: string): void {
    if (delta === '' || leftBytes === 0) return;
    const { text: fitting, bytes } = truncateBytes(delta, leftBytes);
    leftBytes = Math.max(0, leftBytes - bytes);
    text += fitting;
    if (fitting !== '') write(fitting);
  }

  /** Leaves out the thoughts that `held` completes. False: the closing tag has not arrived. */
  function endThoughts(): boolean {
    const found = closing.exec(held);
    if (found === null) {
      held = held.slice(-longestTag);
      return false;
    }
    held = held.slice(found.index + found[0].length);
    state = 'beginning';
    return true;
  }

  /** A second block of thoughts may follow the first. */
  function takeHeld(): void {
    while (state !== 'thoughts' || endThoughts()) {
      const tag = opening.exec(held);
      if (tag === null) return takeBeginning();
      state = 'thoughts';
      hasThoughts = true;
      closing = new RegExp(`</${tag[1]}>`, 'i');
      held = held.slice(tag[0].length);
    }
  }

  function takeBeginning(): void {
    if (held.length <= maxHeldChars && mayBecomeTag(held)) return;
    state = 'text';
    // The blanks after thoughts are not part of the reply.
    emit(hasThoughts ? held.trimStart() : held);
    held = '';
  }

  return {
    add(delta: string): void {
      if (state === 'text') return emit(delta);
      held += delta;
      takeHeld();
    },
    /** Whether the text has reached its limit. */
    isFull: (): boolean => leftBytes === 0,
    /** The whole text, at the end of the answer. */
    end(): string {
      if (result !== undefined) return result;
      if (state === 'beginning') emit(held);
      result = withoutUnopenedThoughts(text);
      return result;
    },
  };
}

function mayBecomeTag(text: string): boolean {
  const start = text.trimStart().toLowerCase();
  return names.some((name) => `<${name}>`.startsWith(start));
}

/**
 * Some models begin their thoughts without the opening tag, because the prompt ends with it. What
 * comes before a closing tag on a line of its own is then not part of the reply.
 */
function withoutUnopenedThoughts(text: string): string {
  const close = /<\/think>/i.exec(text);
  if (close === null || /<think>/i.test(text.slice(0, close.index))) return text;
  const after = text.slice(close.index + close[0].length);
  const lineBefore = text.slice(text.lastIndexOf('\n', close.index) + 1, close.index);
  const lineAfter = after.split('\n', 1)[0]!;
  return lineBefore.trim() === '' && lineAfter.trim() === '' ? after.trimStart() : text;
}
