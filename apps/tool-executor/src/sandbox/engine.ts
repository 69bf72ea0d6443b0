import { type EngineError, type Step, createCalls, guard } from './engine-calls';
import { type EngineValues, type Machine, createValues } from './engine-values';
import { takeImage } from './memory-image';
import { preludeSource } from './prelude/source';
import { type LoadedQuickJs, type Pointer, loadQuickJs } from './quickjs';
import { memoryExceeded, sandboxLimits } from './limits';

/**
 * Performs one operation that the code inside requests. Throws a `Refusal`, which
 * that code can catch.
 */
export type OpHandler = (
  kind: string,
  payload: unknown,
  bytes: Uint8Array | undefined,
  textChars: number,
) => unknown;

/** A refused operation. `name` is the global error class that is thrown inside the engine. */
export class Refusal extends Error {
  constructor(
    override readonly name: 'TypeError' | 'RangeError' | 'Error',
    message: string,
  ) {
    super(message);
  }
}

export interface Engine {
  /** Starts a handler; the deadline is in `performance.now()` milliseconds. */
  start(code: string, args: string, context: string, deadline: number): Step;
  /** Reports a due timer, or the reply to a request, to the code inside. */
  deliver(kind: 'timer' | 'reply', id: number, text?: string, bytes?: Uint8Array): Step;
  /** Runs pending jobs, up to a limit. */
  continue(): Step;
  /** Parses without running. Returns null when the text is a valid function body. */
  check(code: string): EngineError | null;
  /** Whether the code has needed more memory than its limit since the last reset. */
  isExhausted(): boolean;
  /**
   * Whether the memory has grown so much that it is replaced, as WebAssembly memory cannot shrink.
   */
  hasGrown(): boolean;
  /**
   * Discards everything since the engine was created. No other method may be called until the
   * promise resolves.
   */
  reset(): Promise<void>;
}

const compileOnly = 1 << 5;
const backtraceBarrier = 1 << 6;
/** A memory larger than this is replaced between two runs, as WebAssembly memory cannot shrink. */
const keptBytes = 32 * 1024 * 1024;

export const handlerFile = 'handler.js';

export const resultTooLarge = `The result is larger than ${sandboxLimits.resultBytes} bytes`;
/**
 * Each wrapper takes one line before the code, so that the handler's line 1 is the engine's line 2.
 */
const wrapAsArrow = (code: string): string =>
  `(async (args, context, parley, fetch) => {\n${code}\n})`;
/**
 * Code must parse in both wrappers. Code that closes the function and continues after it needs
 * another ending for each (`})` or `}`), so it fails in one of them.
 */
const wrapAsDeclaration = (code: string): string =>
  `async function handler(args, context, parley, fetch) {\n${code}\n}`;

/**
 * QuickJS in WebAssembly with the prelude installed. Only strings, numbers and copies of bytes
 * cross its border: the code inside never has an object of this process, and this process never
 * uses an object from inside.
 */
export async function createEngine(onOp: OpHandler): Promise<Engine> {
  const machine = {
    loaded: await loadQuickJs(),
    runtime: 0,
    context: 0,
    deadline: Infinity,
    wasInterrupted: false,
  };
  const values = createValues(machine);
  const callbacks = createCallbacks(machine, values, onOp);
  startRuntime(machine, callbacks);
  const calls = createCalls(machine, values);
  const { evaluate, exceptionOf, call, runJobs, stepAfter } = calls;
  const { run, deliver } = installPrelude(machine, values, calls);
  const image = takeImage(machine.loaded);
  const hasGrown = (): boolean => machine.loaded.memory.buffer.byteLength > keptBytes;

  return {
    start: (code, args, contextText, deadline) =>
      guard(() => {
        machine.deadline = deadline;
        const handler = evaluate(wrapAsArrow(code), handlerFile, backtraceBarrier);
        const error = exceptionOf(handler);
        return stepAfter(
          error ??
            exceptionOf(
              call(run, [handler, values.newString(args), values.newString(contextText)]),
            ),
        );
      }),
    deliver: (kind, id, text, bytes) =>
      guard(() => {
        const args = [
          values.newString(kind),
          machine.loaded.quickJs._QTS_NewFloat64(machine.context, id),
        ];
        if (text !== undefined) args.push(values.newString(text));
        if (bytes !== undefined) args.push(values.newBytes(bytes));
        return stepAfter(exceptionOf(call(deliver, args)));
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
    isExhausted: () => machine.loaded.isExhausted(),
    hasGrown,
    reset: async () => {
      machine.deadline = Infinity;
      machine.wasInterrupted = false;
      const isReplaced = hasGrown() || machine.loaded.isExhausted();
      if (isReplaced) {
        machine.loaded = await loadQuickJs();
        machine.loaded.quickJs.callbacks = callbacks;
      }
      image.restore(machine.loaded);
      // Until it is collected, the old memory counts against the limit of this process.
      if (isReplaced) globalThis.gc?.();
    },
  };
}

type Callbacks = LoadedQuickJs['quickJs']['callbacks'];

/**
 * What the engine calls in this process: its one host function `op`, and the check of the deadline.
 */
function createCallbacks(machine: Machine, values: EngineValues, onOp: OpHandler): Callbacks {
  const { readString, viewBytes, newString, newBytes } = values;
  return {
    callFunction: (_unused, _context, _self, argc, argv) => {
      const argument = (index: number): Pointer =>
        machine.loaded.quickJs._QTS_ArgvGetJSValueConstPointer(argv, index);
      const kind = readString(argument(0), 100) ?? '';
      const text = readString(argument(1), sandboxLimits.messageBytes);
      const bytes = argc > 2 ? viewBytes(argument(2)) : undefined;
      try {
        if (text === null)
          throw new Refusal(
            'RangeError',
            kind === 'result' ? resultTooLarge : `Larger than ${sandboxLimits.messageBytes} bytes`,
          );
        const answer = onOp(kind, JSON.parse(text), bytes, text.length);
        if (answer instanceof Uint8Array) return newBytes(answer);
        return answer === undefined ? 0 : newString(JSON.stringify(answer));
      } catch (error) {
        const reason = machine.loaded.isExhausted() ? memoryExceeded : 'Refused';
        const { name, message } = error instanceof Refusal ? error : new Refusal('Error', reason);
        return newString(`!${JSON.stringify({ name, message })}`);
      }
    },
    shouldInterrupt: () => {
      if (performance.now() < machine.deadline) return 0;
      machine.wasInterrupted = true;
      return 1;
    },
    freeHostRef: () => undefined,
    loadModuleSource: () => 0,
    normalizeModule: () => 0,
  };
}

function startRuntime(machine: Machine, callbacks: Callbacks): void {
  const js = machine.loaded.quickJs;
  js.callbacks = callbacks;
  machine.runtime = js._QTS_NewRuntime();
  machine.context = js._QTS_NewContext(machine.runtime, 0);
  js._QTS_RuntimeSetMaxStackSize(machine.runtime, sandboxLimits.stackBytes);
  js._QTS_RuntimeEnableInterruptHandler(machine.runtime);
}

/** Evaluates the prelude and returns its two functions, `run` and `deliver`. */
function installPrelude(
  { loaded: { quickJs: js }, context }: Machine,
  { put, newString }: EngineValues,
  { evaluate, exceptionOf, call }: ReturnType<typeof createCalls>,
): { run: Pointer; deliver: Pointer } {
  const op = js._QTS_NewFunction(context, put('op').pointer, 3, 0, 1);
  const entry = call(evaluate(preludeSource, 'parley.js', 0), [op]);
  const problem = exceptionOf(entry);
  if (problem !== null) throw new Error(`The prelude does not run: ${JSON.stringify(problem)}`);
  const property = (name: string): Pointer => js._QTS_GetProp(context, entry, newString(name));
  return { run: property('run'), deliver: property('deliver') };
}
