import type { WrittenCall } from './answer';
import { AnswerTooLarge } from './provider-fault';

/** One piece of a call in a stream. What the provider did not send is empty, or null. */
interface CallPiece {
  index: number | undefined;
  id: string;
  name: string | null;
  args: string;
  extra?: Record<string, unknown>;
}

interface Slot extends WrittenCall {
  index: number | undefined;
}

/** Maximum arguments of all calls of an answer, in characters. */
const maxArgsChars = 8 * 1024 * 1024;
/**
 * Longer arguments that end with a brace are complete without a look: they would be parsed
 * again at each piece.
 */
const maxParsedChars = 16 * 1024;

export type WrittenCalls = ReturnType<typeof createWrittenCalls>;

/** The calls of an answer, of which at most `limit` are kept. */
export function createWrittenCalls(limit: number) {
  const slots: Slot[] = [];
  let dropped = 0;
  let argsChars = 0;
  /** The call that further pieces continue although it was dropped. */
  let lastDropped: Slot | undefined;

  function count(args: string): void {
    argsChars += args.length;
    if (argsChars > maxArgsChars)
      throw new AnswerTooLarge(
        `The tool calls of the answer have more than ${maxArgsChars} characters`,
      );
  }

  function begin(piece: CallPiece): void {
    if (slots.length < limit) {
      count(piece.args);
      slots.push({ ...piece });
      return;
    }
    dropped += 1;
    lastDropped = { ...piece, args: '' };
  }

  /**
   * The call that a piece continues; undefined if it begins one. Servers number all calls 0, repeat
   * ids, change them, send them late, or send neither numbers nor ids. What begins a call has a
   * name: another one than the call before, or the same one after its arguments are complete.
   */
  function continued({ index, id, name }: CallPiece): Slot | undefined {
    const all = lastDropped === undefined ? slots : [...slots, lastDropped];
    const isSameNumber = (slot: Slot) =>
      index === undefined || slot.index === undefined || slot.index === index;
    const same =
      id === '' ? undefined : all.findLast((slot) => slot.id === id && isSameNumber(slot));
    if (same !== undefined) return same;
    const last = index === undefined ? all.at(-1) : all.findLast((slot) => slot.index === index);
    if (last === undefined || !name || !last.name) return last;
    if (name !== last.name) return undefined;
    return isComplete(last.args) ? undefined : last;
  }

  return {
    /** Adds a whole call. */
    add: (call: WrittenCall): void => begin({ ...call, index: undefined }),
    /** Adds a piece of a streamed call. */
    addPiece(piece: CallPiece): void {
      const slot = continued(piece);
      const isEmpty = piece.id === '' && piece.name === null && piece.args === '';
      if (slot === undefined) return isEmpty ? undefined : begin(piece);
      if (slot.id === '') slot.id = piece.id;
      slot.name = slot.name || piece.name;
      if (piece.extra !== undefined) slot.extra = { ...slot.extra, ...piece.extra };
      if (slot === lastDropped) return;
      count(piece.args);
      slot.args += piece.args;
    },
    list: (): WrittenCall[] => slots,
    dropped: (): number => dropped,
  };
}

function isComplete(args: string): boolean {
  if (!args.endsWith('}')) return false;
  if (args.length > maxParsedChars) return true;
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}
