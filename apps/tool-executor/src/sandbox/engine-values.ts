import type { LoadedQuickJs, Pointer } from './quickjs';

/**
 * The engine in use. Pointers stay valid when `loaded` is replaced: the image is restored to
 * the same addresses.
 */
export interface Machine {
  loaded: LoadedQuickJs;
  runtime: Pointer;
  context: Pointer;
  /** In `performance.now()` milliseconds. */
  deadline: number;
  wasInterrupted: boolean;
}

export type EngineValues = ReturnType<typeof createValues>;

/**
 * Copies texts and bytes into and out of the engine's memory. Throws when the engine
 * is out of memory.
 */
export function createValues(machine: Machine) {
  const js = () => machine.loaded.quickJs;
  const heap = (): Buffer => Buffer.from(machine.loaded.memory.buffer);
  const allocate = (size: number): Pointer => {
    const pointer = js()._malloc(size);
    if (pointer === 0) throw new Error('The engine is out of memory');
    return pointer;
  };
  const put = (text: string): { pointer: Pointer; length: number } => {
    const length = Buffer.byteLength(text);
    const pointer = allocate(length + 1);
    const target = heap();
    target.write(text, pointer, length, 'utf8');
    target[pointer + length] = 0;
    return { pointer, length };
  };
  const readText = (pointer: Pointer): string => {
    const bytes = heap();
    return bytes.toString('utf8', pointer, bytes.indexOf(0, pointer));
  };
  /** Returns null when the string is longer than the limit. */
  const readString = (value: Pointer, limitBytes: number): string | null => {
    const start = js()._QTS_GetString(machine.context, value);
    if (start === 0) throw new Error('The engine is out of memory');
    const bytes = heap();
    const end = bytes.indexOf(0, start);
    const read = end - start > limitBytes ? null : bytes.toString('utf8', start, end);
    js()._QTS_FreeCString(machine.context, start);
    return read;
  };
  /**
   * A view of an ArrayBuffer, valid only until the engine runs again; undefined for
   * any other value.
   */
  const viewBytes = (value: Pointer): Uint8Array | undefined => {
    const pointer = js()._QTS_GetArrayBuffer(machine.context, value);
    if (pointer === 0) return undefined;
    return heap().subarray(
      pointer,
      pointer + js()._QTS_GetArrayBufferLength(machine.context, value),
    );
  };
  const newString = (text: string): Pointer => {
    const { pointer } = put(text);
    const value = js()._QTS_NewString(machine.context, pointer);
    js()._free(pointer);
    return value;
  };
  const newBytes = (bytes: Uint8Array): Pointer => {
    // The engine frees this block together with the ArrayBuffer that it becomes.
    const pointer = allocate(Math.max(bytes.length, 1));
    heap().set(bytes, pointer);
    return js()._QTS_NewArrayBuffer(machine.context, pointer, bytes.length);
  };
  return { heap, put, readText, readString, viewBytes, newString, newBytes };
}
