import type loadGlueType from '@jitl/quickjs-wasmfile-release-sync/emscripten-module';
import wasmBytes from '@jitl/quickjs-wasmfile-release-sync/wasm';
import { sandboxLimits } from './limits';

// The ES build requires import.meta, which a CommonJS bundle does not have.
const loadGlue =
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  require('@jitl/quickjs-wasmfile-release-sync/emscripten-module') as typeof loadGlueType;

/** An address inside the engine's memory. */
export type Pointer = number;

/**
 * The exports of the engine that are used. `QTS_…` are names of the binding. Values are pointers
 * to boxed JSValues.
 */
interface QuickJs {
  _malloc(size: number): Pointer;
  _free(pointer: Pointer): void;
  _QTS_NewRuntime(): Pointer;
  _QTS_NewContext(runtime: Pointer, intrinsics: number): Pointer;
  _QTS_RuntimeSetMaxStackSize(runtime: Pointer, bytes: number): void;
  _QTS_RuntimeEnableInterruptHandler(runtime: Pointer): void;
  _QTS_Eval(
    context: Pointer,
    code: Pointer,
    bytes: number,
    file: Pointer,
    detectModule: number,
    flags: number,
  ): Pointer;
  _QTS_Call(context: Pointer, callee: Pointer, self: Pointer, argc: number, argv: Pointer): Pointer;
  _QTS_IsJobPending(runtime: Pointer): number;
  _QTS_ExecutePendingJob(runtime: Pointer, max: number, lastContext: Pointer): Pointer;
  _QTS_ResolveException(context: Pointer, value: Pointer): Pointer;
  _QTS_Typeof(context: Pointer, value: Pointer): Pointer;
  _QTS_Dump(context: Pointer, value: Pointer): Pointer;
  _QTS_NewFunction(
    context: Pointer,
    name: Pointer,
    argc: number,
    isConstructor: boolean | number,
    hostRef: number,
  ): Pointer;
  _QTS_ArgvGetJSValueConstPointer(argv: Pointer, index: number): Pointer;
  _QTS_Throw(context: Pointer, error: Pointer): Pointer;
  _QTS_NewString(context: Pointer, text: Pointer): Pointer;
  _QTS_NewFloat64(context: Pointer, value: number): Pointer;
  _QTS_NewArrayBuffer(context: Pointer, buffer: Pointer, bytes: number): Pointer;
  _QTS_GetString(context: Pointer, value: Pointer): Pointer;
  _QTS_GetArrayBuffer(context: Pointer, value: Pointer): Pointer;
  _QTS_GetArrayBufferLength(context: Pointer, value: Pointer): number;
  _QTS_GetProp(context: Pointer, object: Pointer, name: Pointer): Pointer;
  _QTS_GetUndefined(): Pointer;
  _QTS_FreeValuePointer(context: Pointer, value: Pointer): void;
  _QTS_FreeCString(context: Pointer, text: Pointer): void;
  callbacks: {
    callFunction(
      unused: undefined,
      context: Pointer,
      self: Pointer,
      argc: number,
      argv: Pointer,
    ): Pointer;
    shouldInterrupt(): 0 | 1;
    freeHostRef(): void;
    /** Returns 0, so that no module can be loaded and `import()` fails. */
    loadModuleSource(): Pointer;
    normalizeModule(): Pointer;
  };
}

/**
 * The stack pointer of the engine's C code. It is a WebAssembly global, so the memory image
 * does not contain it.
 */
interface StackPointer {
  get(): number;
  set(value: number): void;
}

export interface LoadedQuickJs {
  quickJs: QuickJs;
  memory: WebAssembly.Memory;
  stack: StackPointer;
  /** Whether the engine has asked for more memory than its limit. */
  isExhausted(): boolean;
}

/**
 * Names of `stackSave` and `stackRestore` in this build of the binding. They are checked at start.
 */
const stackExports = { save: 'Oa', restore: 'Ma' };

const pageBytes = 65_536;
const initialPages = 256;
/** Static data and the stack of the C library, below the heap: 5.1 MiB. */
const ownBytes = 6 * 1024 * 1024;
const maxPages = (sandboxLimits.memoryBytes + ownBytes) / pageBytes;
/**
 * The binding asks for more than is needed, and twice again for less, before an allocation fails.
 */
const growthTries = 3;

let compiled: WebAssembly.Module | undefined;

/**
 * Starts an engine in its own memory, whose maximum is the only limit on all values together: in
 * this build the memory limit of QuickJS itself counts each allocation as 8 bytes, as the C library
 * does not report its size.
 */
export async function loadQuickJs(): Promise<LoadedQuickJs> {
  const memory = new WebAssembly.Memory({ initial: initialPages, maximum: maxPages });
  let isExhausted = false;
  let failures = 0;
  memory.grow = (pages) => {
    try {
      const before = WebAssembly.Memory.prototype.grow.call(memory, pages);
      failures = 0;
      return before;
    } catch (error) {
      failures += 1;
      if (failures >= growthTries) isExhausted = true;
      throw error;
    }
  };
  const module = (compiled ??= new WebAssembly.Module(wasmBytes));
  let exported: WebAssembly.Exports = {};
  const quickJs = (await loadGlue({
    wasmMemory: memory,
    instantiateWasm(imports, onSuccess) {
      const instance = new WebAssembly.Instance(module, imports);
      exported = instance.exports;
      onSuccess(instance);
      return exported;
    },
  })) as unknown as QuickJs;
  const save = exported[stackExports.save] as () => number;
  const restore = exported[stackExports.restore] as (value: number) => void;
  const top = save();
  restore(top - 64);
  const isStack = save() === top - 64;
  restore(top);
  if (!isStack)
    throw new Error('The engine build does not export its stack pointer where it is expected');
  return { quickJs, memory, stack: { get: save, set: restore }, isExhausted: () => isExhausted };
}
