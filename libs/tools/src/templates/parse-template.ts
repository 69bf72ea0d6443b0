import { type Json, findUnstorable } from '@parley/contracts';

/** A template is a list of nodes. Their `source`s joined together are the template. */
export type TemplateNode =
  | { kind: 'text'; source: string }
  | { kind: 'variable'; source: string; name: string; fallback: string | null }
  | { kind: 'call'; source: string; name: string; args: ValueTree; fallback: string | null }
  | { kind: 'invalid'; source: string; name: string; problem: string };

/** JSON whose strings may be templates. */
export type ValueTree =
  | { kind: 'literal'; value: Exclude<Json, object> | null }
  | { kind: 'template'; nodes: TemplateNode[] }
  | { kind: 'array'; items: ValueTree[] }
  | { kind: 'object'; entries: [key: string, value: ValueTree][] };

/**
 * Limits of the work that one template can cause. Beyond them, an expression stays text or
 * becomes an error.
 */
const maxExpressions = 1_000;
const maxArgsChars = 20_000;
const maxNesting = 3;

const namePattern = /\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*/y;
const fallbackPattern = /\s*\|\s*("(?:[^"\\]|\\.)*")/y;
const endPattern = /\s*\}\}/y;

/**
 * Parses `{{path}}`, `{{tool.name({json})}}` and `{{either | "fallback"}}`
 * (docs/reference/prompts.md#syntax). Strings inside the JSON may be templates. Values are inserted
 * later and are never parsed, so they cannot become templates. Never throws: an invalid expression
 * becomes an `invalid` node, and an unclosed `{{` is text.
 */
export function parseTemplate(template: string, nesting = 0): TemplateNode[] {
  const nodes: TemplateNode[] = [];
  let position = 0;
  for (let expressions = 0; expressions < maxExpressions; expressions += 1) {
    const open = template.indexOf('{{', position);
    if (open === -1) break;
    const node = readExpression(template, open, nesting) ?? readInvalid(template, open);
    if (node === null) break;
    if (open > position) nodes.push({ kind: 'text', source: template.slice(position, open) });
    nodes.push(node);
    position = open + node.source.length;
  }
  if (position < template.length) nodes.push({ kind: 'text', source: template.slice(position) });
  return nodes;
}

/**
 * Returns the index of the first `{{` without a `}}` before the next `{{` or the end; null
 * when there is none.
 */
export function findUnclosed(template: string): number | null {
  let position = 0;
  for (const { kind, source, ...node } of parseTemplate(template)) {
    const open = source.indexOf('{{');
    if (kind === 'text' && open !== -1 && !source.includes('}}', open)) return position + open;
    if (
      kind === 'invalid' &&
      source.includes('{{', 2) &&
      'problem' in node &&
      node.problem === 'not found'
    )
      return position;
    position += source.length;
  }
  return null;
}

/**
 * Whether a template is all of the `filters` of a query, which could then be any filters: of a call
 * in the value, or of `tool`, whose arguments the value is.
 */
export function hasTemplateAsFilters(value: Json, tool?: string): boolean {
  const args = parseValue(value);
  return [{ kind: 'call', name: tool, args }, ...nodesOf(args)].some(
    (node) =>
      node.kind === 'call' &&
      node.name === 'entity.query' &&
      node.args.kind === 'object' &&
      node.args.entries.some(([name, item]) => name === 'filters' && item.kind === 'template'),
  );
}

/** The parts of all templates in a value, those inside the arguments of calls included. */
export const templateNodes = (value: Json): TemplateNode[] => nodesOf(parseValue(value));

function nodesOf(tree: ValueTree): TemplateNode[] {
  switch (tree.kind) {
    case 'literal':
      return [];
    case 'template':
      return tree.nodes.flatMap((node) =>
        node.kind === 'call' ? [node, ...nodesOf(node.args)] : [node],
      );
    case 'array':
      return tree.items.flatMap(nodesOf);
    case 'object':
      return tree.entries.flatMap(([, value]) => nodesOf(value));
  }
}

/** Parses the strings of JSON, such as the arguments of a trigger's action, as templates. */
export function parseValue(value: Json, nesting = 0): ValueTree {
  if (typeof value === 'string') {
    if (!value.includes('{{')) return { kind: 'literal', value };
    return { kind: 'template', nodes: parseTemplate(value, nesting) };
  }
  if (Array.isArray(value))
    return { kind: 'array', items: value.map((item) => parseValue(item, nesting)) };
  if (typeof value !== 'object' || value === null) return { kind: 'literal', value };
  return {
    kind: 'object',
    entries: Object.entries(value).map(([key, item]) => [key, parseValue(item, nesting)]),
  };
}

function readExpression(template: string, open: number, nesting: number): TemplateNode | null {
  const named = match(namePattern, template, open + 2);
  if (named === null) return null;
  const name = named[1]!;
  let position = open + 2 + named[0].length;

  let argsText: string | null = null;
  if (template[position] === '(') {
    const close = closingParenthesis(template, position);
    if (close === -1) return null;
    argsText = template.slice(position + 1, close);
    position = close + 1;
  }

  const fallbackMatch = match(fallbackPattern, template, position);
  position += fallbackMatch?.[0].length ?? 0;
  const end = match(endPattern, template, position);
  if (end === null) return null;
  const source = template.slice(open, position + end[0].length);

  const fallback = fallbackMatch === null ? null : parseJson(fallbackMatch[1]!);
  if (fallback === undefined)
    return { kind: 'invalid', source, name, problem: 'has a fallback that is not a string' };
  if (argsText === null)
    return { kind: 'variable', source, name, fallback: fallback as string | null };
  const args = argsText.trim() === '' ? {} : parseJson(argsText);
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return { kind: 'invalid', source, name, problem: 'has arguments that are not a JSON object' };
  }
  const unusable = findUnstorable(args);
  if (unusable !== null)
    return { kind: 'invalid', source, name, problem: `has an argument that ${unusable.message}` };
  if (nesting >= maxNesting)
    return { kind: 'invalid', source, name, problem: 'is nested too deep' };
  return {
    kind: 'call',
    source,
    name,
    args: parseValue(args, nesting + 1),
    fallback: fallback as string | null,
  };
}

/**
 * Reads text between braces that is neither a path nor a call; null when the braces are not closed.
 */
function readInvalid(template: string, open: number): TemplateNode | null {
  const end = template.indexOf('}}', open + 2);
  if (end === -1) return null;
  const source = template.slice(open, end + 2);
  return {
    kind: 'invalid',
    source,
    name: source.slice(2, -2).trim().slice(0, 80),
    problem: 'not found',
  };
}

/**
 * Returns the index of the parenthesis that closes the one at `open`, ignoring those in strings; -1
 * when there is none.
 */
function closingParenthesis(text: string, open: number): number {
  let depth = 0;
  let inString = false;
  for (let index = open; index < text.length && index - open <= maxArgsChars; index += 1) {
    const character = text[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    // No JSON contains these outside of strings. Without this check, many unclosed calls
    // take quadratic time.
    else if (character === '\\' || (character === '{' && text[index + 1] === '{')) return -1;
    else if (character === '(') depth += 1;
    else if (character === ')' && --depth === 0) return index;
  }
  return -1;
}

function match(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** Returns undefined when the text is not JSON. */
function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
