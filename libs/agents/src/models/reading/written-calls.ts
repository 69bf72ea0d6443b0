import type { WrittenCall } from './answer';

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

/** The calls of an answer, of which at most `limit` are kept. */
export function createWrittenCalls(limit: number) {
  const slots: Slot[] = [];
  let dropped = 0;
  /** The call that further pieces continue although it was dropped. */
  let lastDropped: Slot | undefined;

  function begin(piece: CallPiece): void {
    const slot = { ...piece };
    if (slots.length < limit) {
      slots.push(slot);
      return;
    }
    dropped += 1;
    lastDropped = { ...slot, args: '' };
  }

  /**
   * The call that a piece continues; undefined if it begins one. Servers number all calls 0, repeat ids, send them late, or send
   * neither numbers nor ids.
   */
  function continued({ index, id, name }: CallPiece): Slot | undefined {
    const all = lastDropped === undefined ? slots : [...slots, lastDropped];
    if (id !== '') {
      const isSameNumber = (slot: Slot) => index === undefined || slot.index === undefined || slot.index === index;
      const same = all.findLast((slot) => slot.id === id && isSameNumber(slot));
      if (same !== undefined) return same;
    }
    const last = index === undefined ? all.at(-1) : all.findLast((slot) => slot.index === index);
    if (last === undefined) return undefined;
    if (id !== '' && last.id !== '') return undefined;
    return name && last.name && isJson(last.args) ? undefined : last;
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
      if (slot !== lastDropped) slot.args += piece.args;
      if (piece.extra !== undefined) slot.extra = { ...slot.extra, ...piece.extra };
    },
    list: (): WrittenCall[] => slots,
    dropped: (): number => dropped,
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
