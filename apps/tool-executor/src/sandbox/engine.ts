import { takeImage } from './memory-image';
import { preludeSource } from './prelude/source';
import { type Pointer, loadQuickJs } from './quickjs';
import { sandboxLimits } from './protocol';

/** What the engine's only host function does. Throws a refusal, which the code inside can catch. */
export type OpHandler = (kind: string, payload: unknown, bytes?: Uint8Array) => unknown;

/** A question of the code inside that is refused: the name is that of a global error class. */
export class Refusal extends Error {
  constructor(
    override readonly name: 'TypeError' | 'RangeError' | 'Error',
    message: string,
  ) {
    super(message);
  }
}

export interface ThrownInside {
  name?: string;
  message: string;
  stack?: string;
}

/** What became of letting the code inside go on. `again`: there is more to do, after a turn of the event loop. */
export type Step =
  { kind: 'idle' } | { kind: 'again' } | { kind: 'interrupted' } | { kind: 'thrown'; error: ThrownInside };

export interface Engine {
  /** Starts a handler; the deadline is in `performance.now()` milliseconds. */
  start(code: string, args: string, context: string, deadline: number): Step;
  /** Hands a timer or an answer in. */
  deliver(kind: 'timer' | 'reply', id: number, text?: string, bytes?: Uint8Array): Step;
  /** Runs what is due, up to a bound. */
  continue(): Step;
  /** Parses without running. Null when the text is a whole function body. */
  check(code: string): ThrownInside | null;
  /** Forgets everything since the engine was made. Nothing else may be asked of it meanwhile. */
  reset(): Promise<void>;
}

const compileOnly = 1 << 5;
const backtraceBarrier = 1 << 6;
const jobsPerStep = 500;
/** Of memory, between two runs. */
const keptBytes = 32 * 1024 * 1024;

export const handlerFile = 'handler.js';

export const resultTooLarge = `The result is larger than ${sandboxLimits.resultBytes} bytes`;
/** Both open with one line of their own, so that the handler's line 1 is the engine's line 2. */
const wrapAsArrow = (code: string): string => `(async (args, context, parley, fetch) => {\n${code}\n})`;
/** After its end may follow what the other's end forbids: text that closes one to stand beside it cannot fit both. */
const wrapAsDeclaration = (code: string): string =>
  `async function handler(args, context, parley, fetch) {\n${code}\n}`;

/**
 * QuickJS in WebAssembly with the prelude installed. What crosses its border are strings, numbers and copies of bytes;
 * no object of this process is ever inside, and no object of the inside is ever used here.
 */
export async function createEngine(onOp: OpHandler): Promise<Engine> {
  let loaded = await loadQuickJs();
  let { quickJs: js, memory } = loaded;
  let deadline = Infinity;
  let wasInterrupted = false;

  const heap = (): Buffer => Buffer.from(memory.buffer);
  const put = (text: string): { pointer: Pointer; length: number } => {
    const length = Buffer.byteLength(text);
    const pointer = js._malloc(length + 1);
    if (pointer === 0) throw new Error('The engine is out of memory');
    const target = heap();
    target.write(text, pointer, length, 'utf8');
    target[pointer + length] = 0;
    return { pointer, length };
  };
  const readText = (pointer: Pointer): string => {
    const bytes = heap();
    return bytes.toString('utf8', pointer, bytes.indexOf(0, pointer));
  };
  /** Null when it is longer than the limit. */
  const readString = (value: Pointer, limitBytes: number): string | null => {
    const start = js._QTS_GetString(context, value);
    if (start === 0) throw new Error('The engine is out of memory');
    const bytes = heap();
    const end = bytes.indexOf(0, start);
    const read = end - start > limitBytes ? null : bytes.toString('utf8', start, end);
    js._QTS_FreeCString(context, start);
    return read;
  };
  const newString = (text: string): Pointer => {
    const { pointer } = put(text);
    const value = js._QTS_NewString(context, pointer);
    js._free(pointer);
    return value;
  };
  const newBytes = (bytes: Uint8Array): Pointer => {
    // The engine frees this block together with the ArrayBuffer that it becomes.
    const pointer = js._malloc(Math.max(bytes.length, 1));
    if (pointer === 0) throw new Error('The engine is out of memory');
    heap().set(bytes, pointer);
    return js._QTS_NewArrayBuffer(context, pointer, bytes.length);
  };

  const callbacks: typeof js.callbacks = {
    callFunction: (_unused, _context, _self, argc, argv) => {
      const argument = (index: number): Pointer => js._QTS_ArgvGetJSValueConstPointer(argv, index);
      const kind = readString(argument(0), 100) ?? '';
      const text = readString(argument(1), sandboxLimits.messageBytes);
      let bytes: Uint8Array | undefined;
      if (argc > 2) {
        const value = argument(2);
        const pointer = js._QTS_GetArrayBuffer(context, value);
        if (pointer !== 0) bytes = heap().subarray(pointer, pointer + js._QTS_GetArrayBufferLength(context, value));
      }
      try {
        if (text === null)
          throw new Refusal(
            'RangeError',
            kind === 'result' ? resultTooLarge : `Larger than ${sandboxLimits.messageBytes} bytes`,
          );
        const answer = onOp(kind, JSON.parse(text), bytes);
        if (answer instanceof Uint8Array) return newBytes(answer);
        return answer === undefined ? 0 : newString(JSON.stringify(answer));
      } catch (error) {
        const { name, message } = error instanceof Refusal ? error : new Refusal('Error', 'Refused');
        return newString(`!${JSON.stringify({ name, message })}`);
      }
    },
    shouldInterrupt: () => {
      if (performance.now() < deadline) return 0;
      wasInterrupted = true;
      return 1;
    },
    freeHostRef: () => undefined,
    loadModuleSource: () => 0,
    normalizeModule: () => 0,
  };

  js.callbacks = callbacks;
  const runtime = js._QTS_NewRuntime();
  const context = js._QTS_NewContext(runtime, 0);
  js._QTS_RuntimeSetMaxStackSize(runtime, sandboxLimits.stackBytes);
  js._QTS_RuntimeEnableInterruptHandler(runtime);
  const lastContext = js._malloc(4);
  const argv = js._malloc(4 * 16);

  const evaluate = (code: string, file: string, flags: number): Pointer => {
    const [text, name] = [put(code), put(file)];
    const value = js._QTS_Eval(context, text.pointer, text.length, name.pointer, 0, flags);
    js._free(text.pointer);
    js._free(name.pointer);
    return value;
  };
  const thrown = (error: Pointer): ThrownInside => {
    const dump = js._QTS_Dump(context, error);
    try {
      const value = JSON.parse(readText(dump)) as unknown;
      if (typeof value !== 'object' || value === null) return { message: String(value) };
      const { name, message, stack } = value as Record<string, unknown>;
      return { name: text(name), message: text(message) ?? 'out of memory', stack: text(stack) };
    } catch {
      // The engine had no memory left even to say so.
      return { name: 'InternalError', message: 'out of memory' };
    }
  };
  const callValue = (callee: Pointer, args: Pointer[]): Pointer => {
    const bytes = heap();
    args.forEach((value, index) => bytes.writeUInt32LE(value, argv + index * 4));
    return js._QTS_Call(context, callee, js._QTS_GetUndefined(), args.length, argv);
  };
  /** Null when it went well. */
  const call = (callee: Pointer, args: Pointer[]): ThrownInside | null => {
    return exceptionOf(callValue(callee, args));
  };
  const exceptionOf = (value: Pointer): ThrownInside | null => {
    const error = js._QTS_ResolveException(context, value);
    return error === 0 ? null : thrown(error);
  };
  const runJobs = (): Step => {
    if (js._QTS_IsJobPending(runtime) === 1) {
      const count = js._QTS_ExecutePendingJob(runtime, jobsPerStep, lastContext);
      if (wasInterrupted || performance.now() >= deadline) return { kind: 'interrupted' };
      // How many jobs ran, or what the last one threw.
      if (readText(js._QTS_Typeof(context, count)) !== 'number') return { kind: 'thrown', error: thrown(count) };
      if (js._QTS_IsJobPending(runtime) === 1) return { kind: 'again' };
    }
    return { kind: 'idle' };
  };
  const step = (error: ThrownInside | null): Step => {
    if (wasInterrupted) return { kind: 'interrupted' };
    return error ? { kind: 'thrown', error } : runJobs();
  };
  /** The engine's depth is bounded by its own check; should the machine's stack end first, that is a depth as well. */
  const guard = (work: () => Step): Step => {
    try {
      return work();
    } catch (error) {
      const isDepth = error instanceof RangeError;
      const message = isDepth ? 'Maximum call stack size exceeded' : 'out of memory';
      return { kind: 'thrown', error: { name: isDepth ? 'RangeError' : 'InternalError', message } };
    }
  };

  const opName = put('op').pointer;
  const op = js._QTS_NewFunction(context, opName, 3, 0, 1);
  const makeEntry = evaluate(preludeSource, 'parley.js', 0);
  const property = (object: Pointer, name: string): Pointer => js._QTS_GetProp(context, object, newString(name));
  const entry = callValue(makeEntry, [op]);
  const problem = js._QTS_ResolveException(context, entry);
  if (problem !== 0) throw new Error(`The prelude does not run: ${JSON.stringify(thrown(problem))}`);
  const [run, deliver] = [property(entry, 'run'), property(entry, 'deliver')];
  js._QTS_RuntimeSetMemoryLimit(runtime, sandboxLimits.memoryBytes);
  const image = takeImage(loaded);

  return {
    start: (code, args, contextText, until) =>
      guard(() => {
        deadline = until;
        const handler = evaluate(wrapAsArrow(code), handlerFile, backtraceBarrier);
        const error = js._QTS_ResolveException(context, handler);
        if (error !== 0) return step(thrown(error));
        return step(call(run, [handler, newString(args), newString(contextText)]));
      }),
    deliver: (kind, id, text, bytes) =>
      guard(() => {
        const args = [newString(kind), js._QTS_NewFloat64(context, id)];
        if (text !== undefined) args.push(newString(text));
        if (bytes !== undefined) args.push(newBytes(bytes));
        return step(call(deliver, args));
      }),
    continue: () => guard(runJobs),
    check: (code) => {
      for (const wrapped of [wrapAsArrow(code), wrapAsDeclaration(code)]) {
        const result = guard(() => {
          const error = exceptionOf(evaluate(wrapped, handlerFile, compileOnly));
          return error ? { kind: 'thrown', error } : { kind: 'idle' };
        });
        if (result.kind === 'thrown') return result.error;
      }
      return null;
    },
    reset: async () => {
      deadline = Infinity;
      wasInterrupted = false;
      const hasGrown = memory.buffer.byteLength > keptBytes;
      if (hasGrown) {
        // Memory does not shrink: the image moves into a new one.
        loaded = await loadQuickJs();
        ({ quickJs: js, memory } = loaded);
        js.callbacks = callbacks;
      }
      image.restore(loaded);
      // The old one counts against the process's limit for as long as it is only unused.
      if (hasGrown) globalThis.gc?.();
    },
  };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
