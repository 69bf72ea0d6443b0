import type { ResourceKind } from '@parley/contracts';

const defineFunctions: Record<ResourceKind, string> = {
  entityTypes: 'defineData',
  roles: 'defineRole',
  tools: 'defineTools',
  agents: 'defineAgent',
  routers: 'defineRouter',
  triggers: 'defineTrigger',
};

/**
 * Formats definitions of one kind as a TypeScript file. Loading the file returns the
 * same definitions.
 */
export function writeDefinitions(kind: ResourceKind, definitions: object[]): string {
  const define = defineFunctions[kind];
  const toCall = (value: unknown) => `${define}(${toLiteral(value, 0)})`;
  const [first, ...more] = kind === 'tools' ? [toCall(definitions)] : definitions.map(toCall);
  const value =
    more.length === 0 ? first : `[${[first, ...more].map((call) => `\n${call},`).join('')}\n]`;
  return `import { ${define} } from '@parley/definitions';\n\nexport default ${value};\n`;
}

/** In characters; longer values are broken into lines. */
const maxLineLength = 90;

function toLiteral(value: unknown, depth: number): string {
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pad = '  '.repeat(depth + 1);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((member) => toLiteral(member, depth + 1))
    : Object.entries(value).map(
        ([key, member]) => `${keyLiteral(key)}: ${toLiteral(member, depth + 1)}`,
      );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return open + close;
  const space = isList ? '' : ' ';
  const line = `${open}${space}${members.join(', ')}${space}${close}`;
  if (depth > 0 && line.length + pad.length <= maxLineLength && !line.includes('\n')) return line;
  return `${open}\n${members.map((member) => `${pad}${member},\n`).join('')}${'  '.repeat(depth)}${close}`;
}

/** `__proto__` is written as a computed key: as a plain key it would set the prototype. */
const keyLiteral = (key: string): string =>
  key === '__proto__'
    ? "['__proto__']"
    : /^[A-Za-z_$][\w$]*$/.test(key)
      ? key
      : textLiteral(key.replaceAll('\n', '\\n'), key);

/**
 * Texts of several lines become template literals, except those with line separators that a
 * template does not keep.
 */
function textLiteral(text: string, key?: string): string {
  if (
    key === undefined &&
    text.includes('\n') &&
    !/[\r\u2028\u2029]/.test(text) &&
    text.isWellFormed()
  ) {
    return `\`${text.replace(/\\|`|\$\{/g, (found) => `\\${found}`)}\``;
  }
  const json = JSON.stringify(key ?? text);
  return /['\\]/.test(json) ? json : `'${json.slice(1, -1)}'`;
}
