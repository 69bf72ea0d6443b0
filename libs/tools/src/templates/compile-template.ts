import { failureText } from '../failure';
import { type Json, type JsonObject, ownValue, reportRefusal } from '@parley/contracts';
import type { ToolResult } from '../types';
import { lookup, toText } from './lookup';
import { type TemplateNode, type ValueTree, parseTemplate, parseValue } from './parse-template';

export interface TemplateContext {
  variables: JsonObject;
  /** Calls a tool, with permission checks. Without it every function is unknown. */
  call?: (name: string, args: JsonObject, signal: AbortSignal) => Promise<ToolResult>;
  /** Time limit of all functions together, which run concurrently. Default 10 s. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

export interface TemplateError {
  /** The path or function as written in the template. */
  name: string;
  message: string;
}

export interface CompiledTemplate {
  text: string;
  /**
   * The values that the template used, by their path. A function has its name and
   * arguments as the key.
   */
  variables: JsonObject;
  errors: TemplateError[];
}

const defaultTimeoutMs = 10_000;
const maxCalls = 50;
/**
 * Maximum length of one function's result inside a text, in UTF-8
 * (docs/reference/prompts.md#limits-of-templates).
 */
const maxResultBytes = 10_240;
/**
 * Characters of all inserted values together. A value of 1 MiB, named 1,000 times, would
 * take a gigabyte.
 */
const maxInsertedChars = 2 * 1024 * 1024;
const cutMark = '… [cut]';

/**
 * Renders a prompt. An unresolved expression becomes
 * `[TEMPLATE_ERROR: <name> not found]`. Never throws.
 */
export async function compileTemplate(
  template: string,
  context: TemplateContext,
): Promise<CompiledTemplate> {
  const resolver = createResolver(context);
  const errors: TemplateError[] = [];
  const text = await resolver.text(parseTemplate(template), errors);
  return { text, variables: Object.fromEntries(resolver.used), errors };
}

/**
 * Renders the strings of a tool's arguments. A string that is exactly one expression becomes its
 * value, with its type.
 */
export async function resolveArgs<T extends Json>(
  tool: string,
  args: T,
  context: TemplateContext,
): Promise<{ args: T; errors: TemplateError[] }> {
  const errors: TemplateError[] = [];
  const resolved = await createResolver(context).args(tool, parseValue(args), errors);
  return { args: resolved as T, errors };
}

type Resolved = { found: true; value: Json } | { found: false; message: string };
type Expression = Exclude<TemplateNode, { kind: 'text' }>;

/** Resolves one template. Equal function calls run once, different ones run concurrently. */
function createResolver(context: TemplateContext) {
  const used = new Map<string, Json>();
  const calls = new Map<string, Promise<Resolved>>();
  const texts = new Map<Json, string>();
  let inserted = 0;
  const startClock = once(() => {
    const deadline = AbortSignal.timeout(context.timeoutMs ?? defaultTimeoutMs);
    const signal = context.signal ? AbortSignal.any([deadline, context.signal]) : deadline;
    return { signal, expired: whenAborted(signal) };
  });

  async function callOnce(name: string, args: JsonObject): Promise<Resolved> {
    const key = `${name}(${JSON.stringify(args)})`;
    let running = calls.get(key);
    if (running === undefined) {
      if (calls.size >= maxCalls)
        return { found: false, message: `is beyond the ${maxCalls} functions of a template` };
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
    return result.errorType === 'tool_not_found'
      ? notFound
      : { found: false, message: `failed: ${failureText(result)}` };
  }

  function variable(name: string): Resolved {
    const value = lookup(context.variables, name);
    if (value === undefined) return notFound;
    used.set(name, value);
    return { found: true, value };
  }

  async function attempt(node: Expression): Promise<Resolved> {
    if (node.kind === 'invalid') return { found: false, message: node.problem };
    if (node.kind === 'variable') return variable(node.name);
    const inner: TemplateError[] = [];
    const resolvedArgs = await args(node.name, node.args, inner);
    // A function is not called when one of its arguments could not be resolved.
    const [missing] = inner;
    if (missing !== undefined)
      return { found: false, message: `failed: ${missing.name} ${missing.message}` };
    return callOnce(node.name, resolvedArgs as JsonObject);
  }

  /**
   * An expression that fails has an error text as its value, so that a reader of the prompt sees
   * what is missing.
   */
  async function expression(node: Expression, errors: TemplateError[]): Promise<Json> {
    const resolved = await attempt(node);
    const fallback = node.kind === 'invalid' ? null : node.fallback;
    if (fallback !== null && (!resolved.found || resolved.value === null)) return fallback;
    if (resolved.found) return resolved.value;
    errors.push({ name: node.name, message: resolved.message });
    return `[TEMPLATE_ERROR: ${node.name} ${resolved.message}]`;
  }

  /** The text of a value, which is computed once however often a template names the value. */
  function textOf(value: Json): string {
    if (typeof value !== 'object' || value === null) return toText(value);
    const known = texts.get(value) ?? toText(value);
    texts.set(value, known);
    return known;
  }

  /** Returns what is inserted, or an error text when all values together have become too long. */
  function insert<T>(
    node: Expression,
    value: T,
    length: number,
    errors: TemplateError[],
  ): T | string {
    if (inserted + length <= maxInsertedChars) {
      inserted += length;
      return value;
    }
    reportRefusal('template_too_long');
    const message = `is beyond the ${maxInsertedChars} characters of a template`;
    errors.push({ name: node.name, message });
    return `[TEMPLATE_ERROR: ${node.name} ${message}]`;
  }

  async function text(nodes: TemplateNode[], errors: TemplateError[]): Promise<string> {
    const parts = await Promise.all(
      nodes.map(async (node) => {
        if (node.kind === 'text') return node.source;
        const whole = textOf(await expression(node, errors));
        const written = node.kind === 'call' ? cut(whole) : whole;
        return insert(node, written, written.length, errors);
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
        // `fromEntries` defines own properties, even for a key such as `__proto__`.
        return Object.fromEntries(
          await Promise.all(
            tree.entries.map(async ([key, item]) => [key, await value(item, errors)] as const),
          ),
        );
      case 'template': {
        const [only, ...others] = tree.nodes;
        if (only === undefined || others.length > 0 || only.kind === 'text')
          return text(tree.nodes, errors);
        const found = await expression(only, errors);
        return insert(only, found, textOf(found).length, errors);
      }
    }
  }

  /**
   * The arguments of a tool. What a template puts below `filters` is a literal there, never an
   * operator, and an address that is one template never becomes a list.
   */
  async function args(tool: string, tree: ValueTree, errors: TemplateError[]): Promise<Json> {
    const resolved = await value(tree, errors);
    if (tree.kind !== 'object' || !isObject(resolved)) return resolved;
    for (const [name, item] of tree.entries) {
      const given = resolved[name]!;
      if (name === 'filters' && item.kind === 'object') {
        const filters = given as JsonObject;
        for (const [field, one] of item.entries) filters[field] = asLiteral(one, filters[field]!);
      }
      if (item.kind !== 'template') continue;
      const refuse = (message: string) =>
        errors.push({ name: item.nodes[0]!.source.slice(2, -2).trim(), message });
      if (tool === 'entity.query' && name === 'filters')
        refuse('cannot be all of "filters": name each field');
      if (ownValue(oneAddress, tool)?.includes(name) && Array.isArray(given))
        refuse(`makes a list of "${name}"`);
    }
    return resolved;
  }

  return { text, args, used };
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Arguments that accept one value or a list. */
const oneAddress: Record<string, readonly string[]> = {
  'email.send': ['to', 'cc', 'bcc', 'replyTo'],
};

/** An object that a filter would read as operators becomes the operand of an equality. */
function asLiteral({ kind }: ValueTree, value: Json): Json {
  if (kind !== 'template' || !isObject(value)) return value;
  const keys = Object.keys(value);
  return keys.length === 0 || keys.some((key) => key.startsWith('$')) ? { $eq: value } : value;
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
  // A byte 10xxxxxx continues a character: step back to the byte that begins it.
  while ((bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + cutMark;
}
