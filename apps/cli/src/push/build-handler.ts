import { readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { type BuildFailure, type Plugin, build } from 'esbuild';
import { type ToolDefinition, executorLimits, sandboxGlobals } from '@parley/contracts';
import * as definitions from '@parley/definitions';
import { io } from '../command-io';
import { type Place, placesOf } from './places';
import { textFiles } from './text-files';

/** What a handler has without its file: its parameters, and the globals of the sandbox. */
const sandboxNames = new Set(['args', 'context', 'parley', ...sandboxGlobals]);

/** Words that look like names but cannot be declared. */
const reserved = new Set(
  `arguments async await break case catch class const continue debugger default delete do else enum eval export extends false
   finally for function if implements import in instanceof interface let new null package private protected public return
   static super switch this throw true try typeof var void while with yield`.split(/\s+/),
);

/** A module that exists only in a build. */
const virtual = (name: string, contents: string): Plugin => ({
  name,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
      path: name,
      namespace: name,
      sideEffects: false,
    }));
    onLoad({ filter: /.*/, namespace: name }, () => ({ contents, loader: 'js' }));
  },
});

const shared = {
  bundle: true,
  write: false,
  logLevel: 'silent',
  target: 'es2023',
  charset: 'utf8',
} as const;

const wordsIn = (code: string): string[] =>
  [...new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu))].filter(
    (word) => !reserved.has(word),
  );

/**
 * Those of the names that the code does not declare. They are offered to esbuild as globals, which
 * keeps those that are one.
 */
async function undeclared(code: string, names: string[]): Promise<string[]> {
  const offered = names.map((name) => `export const ${name} = "parley-free:${name}";`).join('\n');
  const { outputFiles } = await build({
    ...shared,
    stdin: { contents: code, loader: 'ts' },
    inject: ['parley-names'],
    plugins: [virtual('parley-names', offered), external],
    format: 'esm',
  });
  const used = outputFiles[0]!.text.matchAll(/= "parley-free:([^"]+)"/g);
  return [...used].map(([, name]) => name!);
}

/** Leaves the imports of a file as they are. */
const external: Plugin = {
  name: 'external',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, external: true } : undefined,
    );
  },
};

/**
 * The names that a handler neither declares nor finds in the sandbox: those of its
 * file, and mistakes.
 */
const freeNames = (handlerCode: string): Promise<string[]> =>
  undeclared(
    `export default async (args, context, parley, fetch) => {\n${handlerCode}\n}`,
    wordsIn(handlerCode).filter((word) => !sandboxNames.has(word)),
  );

/**
 * The names of the sandbox for which a handler means something else, which its file declares:
 * `function escape() …`.
 */
async function shadowedNames(file: string, handlerCode: string): Promise<string[]> {
  const [, handler] = /^return (.*)\(args, context, parley, fetch\);$/s.exec(handlerCode) ?? [];
  if (handler === undefined) return [];
  const candidates = wordsIn(handler).filter((word) => sandboxNames.has(word));
  const meant = await undeclared(`export default ${handler}`, candidates);
  if (meant.length === 0) return [];
  const missing = await undeclared(
    `${readFileSync(file, 'utf8')}\nexport const used = () => [${meant.join(', ')}];`,
    meant,
  );
  return meant.filter((name) => !missing.includes(name));
}

/** Finds the place of a line of a handler, from 1. */
export type PlaceOfLine = (line: number) => Place | null;

export interface BuiltHandler {
  code: string;
  placeOf: PlaceOfLine;
  problems: string[];
  warnings: string[];
}

/**
 * Builds the code of a tool whose handler is a function of `file` that begins at `start`. A
 * handler that only uses the sandbox is its own source. Otherwise the variables and imports of the
 * file are bundled.
 */
export async function buildHandler(
  file: string,
  tool: ToolDefinition,
  start: Place | null,
): Promise<BuiltHandler> {
  const plain: BuiltHandler = {
    code: tool.handlerCode,
    placeOf: (line) => start && { file: start.file, line: start.line + line - 1 },
    problems: [],
    warnings: [],
  };
  const missing = await freeNames(tool.handlerCode);
  const names = [...missing, ...(await shadowedNames(start?.file ?? file, tool.handlerCode))];
  if (names.length === 0) return plain;
  try {
    const { code, placeOf } = await bundleHandler(file, tool.name);
    const unknown = await freeNames(code);
    const warnings = missing
      .filter((name) => unknown.includes(name))
      .map((name) => `the handler uses ${name}, which neither its file nor the sandbox has`);
    if (warnings.length === names.length) return { ...plain, warnings };
    const problems =
      code.length > executorLimits.handlerCodeChars
        ? [
            `the handler has ${code.length} characters with what it imports; at most ${executorLimits.handlerCodeChars} are allowed`,
          ]
        : [];
    return { code, placeOf, warnings, problems };
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (errors === undefined) throw error;
    const reason = errors
      .map(({ text, location }) =>
        location === null ? text : `${text} (${location.file}:${location.line})`,
      )
      .join('; ');
    return {
      ...plain,
      problems: [`the handler cannot be bundled with its imports: ${reason}`],
    };
  }
}

/**
 * Replaces `(line 5)` in an error of a handler by the place in the user's file:
 * `(tools/shop.ts:29)`.
 */
export const nameLine = (text: string, placeOf: PlaceOfLine, folder = io().cwd): string =>
  text.replace(/\(line (\d+)(, column \d+)?\)/, (given, line: string) => {
    const place = placeOf(Number(line));
    return place === null ? given : `(${relative(folder, place.file)}:${place.line})`;
  });

/**
 * The code of a handler that uses names of its file: the file with its imports, without what they
 * do not use. Throws a BuildFailure for imports that the sandbox does not have.
 */
async function bundleHandler(
  file: string,
  tool: string,
): Promise<{ code: string; placeOf: PlaceOfLine }> {
  const own = '@parley/definitions';
  const functions = Object.keys(definitions).filter((name) => name !== 'defineTools');
  const stub = `export const handlers = new Map();
    export const defineTools = (tools) => { for (const { name, handler } of tools) handlers.set(name, handler); return tools; };
    ${functions.map((name) => `export const ${name} = (value) => value;`).join('\n')}`;
  const { outputFiles } = await build({
    ...shared,
    stdin: {
      contents: `import ${JSON.stringify(`./${basename(file)}`)};\nimport { handlers } from '${own}';\nhandler = handlers.get(${JSON.stringify(tool)});`,
      resolveDir: dirname(file),
    },
    // Paths in the code are relative to it, so that the code is the same in every checkout.
    absWorkingDir: dirname(file),
    outdir: dirname(file),
    plugins: [virtual(own, stub), textFiles],
    platform: 'browser',
    format: 'iife',
    sourcemap: 'external',
    legalComments: 'none',
  });
  const [map, bundle] = ['.map', '.js'].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end))!.text,
  );
  const placeOf = placesOf(map!, dirname(file));
  return {
    code: `let handler;\n${bundle}return handler(args, context, parley, fetch);`,
    // The bundle begins in the second line.
    placeOf: (line) => placeOf(line - 2),
  };
}
