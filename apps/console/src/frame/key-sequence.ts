type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'timeStamp'>;

/** The name of a key in the handlers of `useKeys`: `j`, `Enter`, `mod+k`. */
export const keyName = ({ key, ctrlKey, metaKey }: Omit<Pressed, 'timeStamp'>): string =>
  (ctrlKey || metaKey ? 'mod+' : '') + (key.length === 1 ? key.toLowerCase() : key);

/** The time in which the second key of a sequence follows `g`. */
const sequenceMs = 1_000;

/** What the keys that were pressed mean together. */
export class KeySequence {
  /** What the last key means: the key itself, or `g` and the key. */
  pressed = '';
  #startedAtMs = -Infinity;

  /** `isWriting`: the key is part of a text, so it begins no sequence. */
  read(event: Pressed, isWriting: boolean): void {
    const key = keyName(event);
    const isSecond = event.timeStamp - this.#startedAtMs < sequenceMs;
    this.pressed = isSecond ? `g ${key}` : key;
    this.#startedAtMs = key === 'g' && !isSecond && !isWriting ? event.timeStamp : -Infinity;
  }
}
