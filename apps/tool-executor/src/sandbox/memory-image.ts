import type { LoadedQuickJs } from './quickjs';

/** Size of the engine's static data, which lies below its stack. */
const dataBytes = 128 * 1024;
/**
 * The part of the engine's stack that a run can have written: its own limit, and what
 * native functions add.
 */
const stackBytes = 1024 * 1024;
/** The C library extends its heap in pages of this size. */
const pageBytes = 4096;
/** More than the prelude needs. */
const maxImageBytes = 1024 * 1024;
/**
 * Address at which this build of the C library stores the end of its heap. It is not exported,
 * so it is checked.
 */
const breakAddress = 86_864;

/**
 * Takes an image of an engine that is set up and has not run a handler. Restoring copies its static
 * data and heap (a few hundred kilobytes) and clears the memory above. This is cheaper than a new
 * engine. A new runtime in the same engine would leave data of the last run in freed memory.
 */
export function takeImage(loaded: LoadedQuickJs) {
  const { quickJs, memory, stack } = loaded;
  const stackTop = stack.get();
  const stackLow = stackTop - stackBytes;
  const heapEnd = readWord(memory, breakAddress);
  if (stackLow < dataBytes || heapEnd < stackTop || heapEnd > stackTop + maxImageBytes)
    throw new Error(otherLayout);
  const data = new Uint8Array(memory.buffer.slice(0, dataBytes));
  const heap = new Uint8Array(memory.buffer.slice(stackTop, heapEnd));
  checkBreak(quickJs._malloc, memory);
  /** Resets the memory to the image. Nothing that a run wrote remains. */
  const restore = (target: LoadedQuickJs): void => {
    const bytes = new Uint8Array(target.memory.buffer);
    const dirtyEnd = Math.min(bytes.length, readWord(target.memory, breakAddress));
    bytes.set(data, 0);
    bytes.fill(0, stackLow, stackTop);
    bytes.set(heap, stackTop);
    if (dirtyEnd > heapEnd) bytes.fill(0, heapEnd, dirtyEnd);
    target.stack.set(stackTop);
  };
  // The check above has allocated memory, which is released here.
  restore(loaded);
  return { restore };
}

const readWord = (memory: WebAssembly.Memory, address: number): number =>
  new DataView(memory.buffer).getUint32(address, true);

const otherLayout = 'The memory layout of this engine build is not the expected one';

/**
 * Checks `breakAddress`: for each large block, the end of the heap must grow by whole pages and lie
 * above the block.
 */
function checkBreak(malloc: (size: number) => number, memory: WebAssembly.Memory): void {
  for (const pages of [41, 50, 37]) {
    const before = readWord(memory, breakAddress);
    const blockBytes = pages * pageBytes;
    const blockEnd = malloc(blockBytes) + blockBytes;
    const after = readWord(memory, breakAddress);
    if (after <= before || after < blockEnd || (after - before) % pageBytes !== 0)
      throw new Error(otherLayout);
  }
}
