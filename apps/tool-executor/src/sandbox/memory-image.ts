import type { LoadedQuickJs } from './quickjs';

/** Puts the engine back to where the image was taken: nothing that a run wrote is left, not even as garbage. */
export interface MemoryImage {
  restore(): void;
}

/** Everything below this is the engine's static data; its stack begins above. */
const dataBytes = 128 * 1024;
/** How deep the engine's stack can have been dirtied: its own limit plus what native functions add. */
const stackBytes = 1024 * 1024;
/** What the C library takes at a time. */
const pageBytes = 4096;
/** More than the prelude needs. The rest of the memory is left untouched, since untouched memory costs nothing. */
const maxImageBytes = 1024 * 1024;

/**
 * Takes an image of an engine that is set up but has run nothing of a stranger. Restoring copies the static data and
 * the heap of the image (a few hundred kilobytes) and clears what lies above: cheaper than a new engine, and more
 * thorough than a new runtime in an old one, whose freed memory would still hold the last run's data.
 */
export function takeImage({ quickJs, memory, stack }: LoadedQuickJs): MemoryImage {
  const stackTop = stack.get();
  const stackLow = stackTop - stackBytes;
  if (stackLow < dataBytes) throw new Error('The engine build has another memory layout than expected');
  const data = new Uint8Array(memory.buffer.slice(0, dataBytes));
  const above = memory.buffer.slice(stackTop, stackTop + maxImageBytes);
  const breakAddress = findBreak(quickJs._malloc, memory);
  const heapEnd = readWord(data.buffer, breakAddress);
  if (heapEnd > stackTop + maxImageBytes) throw new Error('The prelude needs more memory than expected');
  const heap = new Uint8Array(above.slice(0, heapEnd - stackTop));
  const restore = () => {
    const bytes = new Uint8Array(memory.buffer);
    const dirtyEnd = Math.min(bytes.length, readWord(memory.buffer, breakAddress));
    bytes.set(data, 0);
    bytes.fill(0, stackLow, stackTop);
    bytes.set(heap, stackTop);
    if (dirtyEnd > heapEnd) bytes.fill(0, heapEnd, dirtyEnd);
    stack.set(stackTop);
  };
  // The search has taken memory; that is the first thing to be forgotten.
  restore();
  return { restore };
}

const readWord = (buffer: ArrayBuffer, address: number): number => new DataView(buffer).getUint32(address, true);

/**
 * Where the C library keeps the end of its heap: the one static word that, each time a block is taken which is larger
 * than anything free, moves up by whole pages to lie above the block. Found by trying, since the build exports no name
 * for it.
 */
function findBreak(malloc: (size: number) => number, memory: WebAssembly.Memory): number {
  const words = (): Uint32Array => new Uint32Array(memory.buffer.slice(0, dataBytes));
  for (const scale of [1, 4, 16]) {
    let candidates: Set<number> | null = null;
    for (const pages of [41, 50, 37]) {
      const before = words();
      const blockBytes = pages * scale * pageBytes;
      const blockEnd = malloc(blockBytes) + blockBytes;
      const after = words();
      const found = new Set<number>();
      for (let index = 0; index < after.length; index++) {
        const [from, to] = [before[index]!, after[index]!];
        if (to > from && to >= blockEnd && (to - from) % pageBytes === 0) found.add(index);
      }
      const earlier: Set<number> = candidates ?? found;
      candidates = new Set([...found].filter((index) => earlier.has(index)));
    }
    const [only] = candidates ?? [];
    if (candidates?.size === 1 && only !== undefined) return only * 4;
  }
  throw new Error('The engine build hides the end of its heap');
}
