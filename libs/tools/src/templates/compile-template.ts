import type { Json, JsonObject } from '@parley/contracts';
import type { ToolResult } from '../types';
import { lookup, toText } from './lookup';
import { type TemplateNode, type ValueTree, parseTemplate, parseValue } from './parse-template';

export interface TemplateContext {
  variables: JsonObject;
  /** Runs a function, permission-checked; without it every function is unknown. */
  call?: (name: string, args: JsonObject, signal: AbortSignal) => Promise<ToolResult>;
  /** Of all functions together, as they run at the same time; 10 s unless told. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface TemplateError {
  /** The path or function as it was written. */
  name: string;
  message: string;
}

export interface CompiledTemplate {
  text: string;
  /** What the template used, by its written name; a function by its name and arguments. */
  variables: JsonObject;
  errors: TemplateError[];
}

const defaultTimeoutMs = 10_000;
const maxCalls = 50;
/** Of one function's result inside a text, in UTF-8 (decisions.md, Templates). */
const maxResultBytes = 10_240;
const cutMark = '… [cut]';

/** Fills in a prompt. Unresolved parts read `[TEMPLATE_ERROR: <name> not found]` and are listed. Never throws. */
export async function compileTemplate(template: string, context: TemplateContext): Promise<CompiledTemplate> {
  const resolver = createResolver(context);
  const errors: TemplateError[] = [];
  const text = await resolver.text(parseTemplate(template), errors);
  return { text, variables: Object.fromEntries(resolver.used), errors };
}

/**
 * Fills in JSON arguments. A string that is exactly one template becomes the value itself with its type; templates
 * inside other text become text. Keys are left alone.
 */
export async function resolveArgs<T extends Json>(
  args: T,
  context: TemplateContext,
): Promise<{ args: T; errors: TemplateError[] }> {
  const errors: TemplateError[] = [];
  const resolved = await createResolver(context).value(parseValue(args), errors);
  return { args: resolved as T, errors };
}

type Resolved = { found: true; value: Json } | { found: false; message: string };
type Expression = Exclude<TemplateNode, { kind: 'text' }>;

/** Resolves one template: equal function calls run once, different ones at the same time. */
function createResolver(context: TemplateContext) {
  const used = new Map<string, Json>();
  const calls = new Map<string, Promise<Resolved>>();
  const startClock = once(() => {
    const deadline = AbortSignal.timeout(context.timeoutMs ?? defaultTimeoutMs);
    const signal = context.signal ? AbortSignal.any([deadline, context.signal]) : deadline;
    return { signal, expired: whenAborted(signal) };
  });

  async function callOnce(name: string, args: JsonObject): Promise<Resolved> {
    const key = `${name}(${JSON.stringify(args)})`;
    let running = calls.get(key);
    if (running === undefined) {
      if (calls.size >= maxCalls) return { found: false, message: `is beyond the ${maxCalls} functions of a template` };
      running = call(name, args).then((resolved) => {
        if (resolved.found) used.set(key, resolved.value);
        return resolved;
      });
      calls.set(key, running);
    }
    return running;
  }

  async function call(name: string, args: JsonObject): Promise<Resolved> {
    if (context.call === undefined) return notFound;
    const { signal, expired } = startClock();
    const result = await Promise.race([context.call(name, args, signal), expired]);
    if (result.ok) return { found: true, value: result.result };
    return result.errorType === 'tool_not_found' ? notFound : { found: false, message: `failed: ${result.message}` };
  }

  function variable(name: string): Resolved {
    const value = lookup(context.variables, name);
    if (value === undefined) return notFound;
    used.set(name, value);
    return { found: true, value };
  }

  async function attempt(one: Expression): Promise<Resolved> {
    if (one.kind === 'invalid') return { found: false, message: one.problem };
    if (one.kind === 'variable') return variable(one.name);
    const inner: TemplateError[] = [];
    const args = await value(one.args, inner);
    // A function is not called with an error for an argument.
    const [missing] = inner;
    if (missing !== undefined) return { found: false, message: `failed: ${missing.name} ${missing.message}` };
    return callOnce(one.name, args as JsonObject);
  }

  /** The text that stands for a failure is its value: a reader of the prompt sees what is missing. */
  async function expression(one: Expression, errors: TemplateError[]): Promise<Json> {
    const resolved = await attempt(one);
    const fallback = one.kind === 'invalid' ? null : one.fallback;
    if (fallback !== null && (!resolved.found || resolved.value === null)) return fallback;
    if (resolved.found) return resolved.value;
    errors.push({ name: one.name, message: resolved.message });
    return `[TEMPLATE_ERROR: ${one.name} ${resolved.message}]`;
  }

  async function text(nodes: TemplateNode[], errors: TemplateError[]): Promise<string> {
    const parts = await Promise.all(
      nodes.map(async (one) => {
        if (one.kind === 'text') return one.source;
        const written = toText(await expression(one, errors));
        return one.kind === 'call' ? cut(written) : written;
      }),
    );
    return parts.join('');
  }

  async function value(tree: ValueTree, errors: TemplateError[]): Promise<Json> {
    switch (tree.kind) {
      case 'literal':
        return tree.value;
      case 'array':
        return Promise.all(tree.items.map((item) => value(item, errors)));
      case 'object':
        // fromEntries defines own properties, whatever they are called.
        return Object.fromEntries(
          await Promise.all(tree.entries.map(async ([key, item]) => [key, await value(item, errors)] as const)),
        );
      case 'template': {
        const [only, ...others] = tree.nodes;
        if (only === undefined || others.length > 0 || only.kind === 'text') return text(tree.nodes, errors);
        return expression(only, errors);
      }
    }
  }

  return { text, value, used };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const notFound: Resolved = { found: false, message: 'not found' };

const whenAborted = (signal: AbortSignal): Promise<ToolResult> =>
  new Promise((resolve) => {
    const answer = () => resolve({ ok: false, errorType: 'timeout', message: 'took too long' });
    if (signal.aborted) answer();
    else signal.addEventListener('abort', answer, { once: true });
  });

/** At most 10 KB, cut between characters. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxResultBytes) return text;
  let end = maxResultBytes - Buffer.byteLength(cutMark);
  // A byte 10xxxxxx continues a character: step back to where that one begins.
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + cutMark;
}
