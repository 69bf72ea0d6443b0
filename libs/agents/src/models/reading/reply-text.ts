import { truncateBytes } from '../../threads/storable-text';

const tags = ['think', 'thinking', 'thought', 'reasoning'];
const opening = new RegExp(`^<(${tags.join('|')})>`, 'i');
const longestTag = '</reasoning>'.length;

export type ReplyText = ReturnType<typeof createReplyText>;

/**
 * Collects the text of an answer and writes it on as it arrives. Thoughts in a tag at the beginning (`<think>…</think>`) are
 * left out: servers that have no parser for their model's thoughts send them as text. The text ends at `maxBytes`.
 */
export function createReplyText(maxBytes: number, write: (delta: string) => void) {
  let state: 'beginning' | 'thoughts' | 'text' = 'beginning';
  /** At the beginning, what may be the first characters of a tag. In thoughts, what may be those of the closing tag. */
  let held = '';
  let closing = '';
  let hasThoughts = false;
  let text = '';
  let leftBytes = maxBytes;

  function emit(delta: string): void {
    if (delta === '' || leftBytes === 0) return;
    const { text: fitting, bytes } = truncateBytes(delta, leftBytes);
    leftBytes = Math.max(0, leftBytes - bytes);
    text += fitting;
    if (fitting !== '') write(fitting);
  }

  function takeBeginning(): void {
    const start = held.trimStart();
    const tag = opening.exec(start);
    if (tag !== null) {
      state = 'thoughts';
      hasThoughts = true;
      closing = `</${tag[1]!.toLowerCase()}>`;
      held = start.slice(tag[0].length);
      return takeThoughts();
    }
    const lower = start.toLowerCase();
    if (tags.some((name) => `<${name}>`.startsWith(lower))) return;
    state = 'text';
    emit(hasThoughts ? start : held);
    held = '';
  }

  function takeThoughts(): void {
    const at = held.toLowerCase().indexOf(closing);
    if (at === -1) {
      held = held.slice(-longestTag);
      return;
    }
    held = held.slice(at + closing.length).trimStart();
    // A second block may follow, and the spaces after the first one are not part of the reply.
    state = 'beginning';
    if (held !== '') takeBeginning();
  }

  return {
    add(delta: string): void {
      if (state === 'text') return emit(delta);
      held += delta;
      if (state === 'beginning') takeBeginning();
      else takeThoughts();
    },
    /** Whether the text has reached its limit. */
    isFull: (): boolean => leftBytes === 0,
    /** The text so far. Call it once, at the end of the answer. */
    end(): string {
      if (state === 'beginning') emit(held);
      held = '';
      return withoutUnopenedThoughts(text);
    },
  };
}

/**
 * Some models begin their thoughts without the opening tag, because the prompt ends with it. What comes before a closing tag on a
 * line of its own is then not part of the reply.
 */
function withoutUnopenedThoughts(text: string): string {
  const close = /^[^\S\n]*<\/think>[^\S\n]*$/im.exec(text);
  if (close === null || text.toLowerCase().lastIndexOf('<think>', close.index) !== -1) return text;
  return text.slice(close.index + close[0].length).trimStart();
}
