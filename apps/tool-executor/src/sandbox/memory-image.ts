import type { LoadedQuickJs } from './quickjs';

/** An engine that is set up but has run nothing of a stranger. */
export interface MemoryImage {
  /** Puts the engine of this memory back to where the image was taken: nothing that a run wrote is left. */
  restore(target: LoadedQuickJs): void;
}

/** Everything below this is the engine's static data; its stack begins above. */
const dataBytes = 128 * 1024;
/** How deep the engine's stack can have been dirtied: its own limit plus what native functions add. */
const stackBytes = 1024 * 1024;
/** What the C library takes at a time. */
const pageBytes = 4096;
/** More than the prelude needs. The rest of the memory is left untouched, since untouched memory costs nothing. */
const maxImageBytes = 1024 * 1024;
/** Where this build of the C library keeps the end of its heap; there is no export for it, so it is checked. */
const breakAddress = 86_864;

/**
 * Takes an image. Restoring copies the static data and the heap of the image (a few hundred kilobytes) and clears what
 * lies above: cheaper than a new engine, and more thorough than a new runtime in an old one, whose freed memory would
 * still hold the last run's data.
 */
export function takeImage(loaded: LoadedQuickJs): MemoryImage {
  const { quickJs, memory, stack } = loaded;
  const stackTop = stack.get();
  const stackLow = stackTop - stackBytes;
  const heapEnd = readWord(memory, breakAddress);
  if (stackLow < dataBytes || heapEnd < stackTop || heapEnd > stackTop + maxImageBytes) throw new Error(otherLayout);
  const data = new Uint8Array(memory.buffer.slice(0, dataBytes));
  const heap = new Uint8Array(memory.buffer.slice(stackTop, heapEnd));
  checkBreak(quickJs._malloc, memory);
  const restore = (target: LoadedQuickJs) => {
    const bytes = new Uint8Array(target.memory.buffer);
    const dirtyEnd = Math.min(bytes.length, readWord(target.memory, breakAddress));
    bytes.set(data, 0);
    bytes.fill(0, stackLow, stackTop);
    bytes.set(heap, stackTop);
    if (dirtyEnd > heapEnd) bytes.fill(0, heapEnd, dirtyEnd);
    target.stack.set(stackTop);
  };
  // The check has taken memory; that is the first thing to be forgotten.
  restore(loaded);
  return { restore };
}

const readWord = (memory: WebAssembly.Memory, address: number): number =>
  new DataView(memory.buffer).getUint32(address, true);

const otherLayout = 'This build of the engine has another memory layout than the one it was made for';

/** The end of the heap moves up by whole pages, to lie above each block that is larger than anything free. */
function checkBreak(malloc: (size: number) => number, memory: WebAssembly.Memory): void {
  for (const pages of [41, 50, 37]) {
    const before = readWord(memory, breakAddress);
    const blockBytes = pages * pageBytes;
    const blockEnd = malloc(blockBytes) + blockBytes;
    const after = readWord(memory, breakAddress);
    if (after <= before || after < blockEnd || (after - before) % pageBytes !== 0) throw new Error(otherLayout);
  }
}
