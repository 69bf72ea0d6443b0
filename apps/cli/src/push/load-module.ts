import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { compileFunction, createContext, runInContext } from 'node:vm';
import { type BuildFailure, build } from 'esbuild';
import * as definitions from '@parley/definitions';
import type { Place } from './places';
import { preserveLineNumbers } from './preserve-line-numbers';
import { textFiles } from './text-files';

export type Loaded =
  | {
      ok: true;
      exports: Record<string, unknown>;
      /** The place of the first line of a function with this source, from 1. */
      placeOf: (source: string) => Place | null;
    }
  | { ok: false; message: string };

/**
 * Runs a user's TypeScript or JavaScript file and returns its exports. The file is bundled with its
 * imports; `@parley/definitions` is the copy inside this CLI, so that no package has to be
 * installed. Markdown and text files are imported as strings, for prompts.
 */
export async function loadModule(file: string): Promise<Loaded> {
  let laidOut: Awaited<ReturnType<typeof preserveLineNumbers>>;
  try {
    const { outputFiles } = await build({
      entryPoints: [file],
      bundle: true,
      write: false,
      outdir: dirname(file),
      sourcemap: 'external',
      platform: 'node',
      format: 'cjs',
      target: 'node22',
      external: [ownPackage],
      plugins: [textFiles],
      logLevel: 'silent',
    });
    const [map, bundle] = ['.map', '.js'].map(
      (end) => outputFiles.find(({ path }) => path.endsWith(end))!.text,
    );
    laidOut = await preserveLineNumbers(bundle!, map!);
  } catch (error) {
    return { ok: false, message: describeBuildFailure(error) };
  }
  const { code, starts } = laidOut;
  const loaded = run(code, file);
  if (!loaded.ok) return loaded;
  const placeOf = (source: string): Place | null => {
    const at = code.indexOf(source);
    const start = at === -1 ? undefined : starts.findLast((one) => one.at <= at);
    return start ? { file: resolve(dirname(file), start.source), line: start.line + 1 } : null;
  };
  return { ...loaded, placeOf };
}

/** Loading a file takes milliseconds; more than this is an endless loop. */
const timeoutMs = 10_000;
const ownPackage = '@parley/definitions';

function run(
  code: string,
  file: string,
): { ok: true; exports: Record<string, unknown> } | { ok: false; message: string } {
  const requireThere = createRequire(file);
  const require = (id: string): unknown => (id === ownPackage ? definitions : requireThere(id));
  const module = { exports: {} as Record<string, unknown> };
  try {
    const body = compileFunction(
      code,
      ['module', 'exports', 'require', '__filename', '__dirname'],
      { filename: file },
    );
    const load = () =>
      definitions.withoutThrowing(() => body(module, module.exports, require, file, dirname(file)));
    withoutExit(() => runInContext('load()', createContext({ load }), { timeout: timeoutMs }));
    return { ok: true, exports: module.exports };
  } catch (error) {
    return { ok: false, message: describeThrown(error) };
  }
}

/**
 * A definition file that exits the process would end `parley dev`, so process.exit throws while
 * a file is loaded.
 */
function withoutExit(work: () => void): void {
  const { exit } = process;
  process.exit = (code) => {
    throw new Error(`calls process.exit(${code ?? ''}) when it is loaded`);
  };
  try {
    work();
  } finally {
    process.exit = exit;
  }
}

function describeThrown(error: unknown): string {
  const { code, message } = Object(error) as { code?: string; message?: string };
  if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
    return `did not finish loading within ${timeoutMs / 1000} s`;
  return message ?? String(error);
}

function describeBuildFailure(error: unknown): string {
  const { errors } = error as Partial<BuildFailure>;
  if (errors === undefined || errors.length === 0) throw error;
  return errors
    .map(({ text, location }) => (location === null ? text : `line ${location.line}: ${text}`))
    .join('\n');
}
