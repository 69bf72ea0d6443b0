import type { ResourceKind } from '@parley/contracts';

const makers: Record<ResourceKind, string> = {
  entityTypes: 'defineData',
  roles: 'defineRole',
  tools: 'defineTools',
  agents: 'defineAgent',
  routers: 'defineRouter',
  triggers: 'defineTrigger',
};

/** Definitions of a kind as a TypeScript file of a project. Loading it gives the same definitions. */
export function writeDefinitions(kind: ResourceKind, given: object[]): string {
  const maker = makers[kind];
  const made = (value: unknown) => `${maker}(${toLiteral(value, 0)})`;
  const [only, ...more] = kind === 'tools' ? [made(given)] : given.map(made);
  const value = more.length === 0 ? only : `[${[only, ...more].map((one) => `\n${one},`).join('')}\n]`;
  return `import { ${maker} } from '@parley/definitions';\n\nexport default ${value};\n`;
}

const widest = 90;

function toLiteral(value: unknown, depth: number): string {
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pad = '  '.repeat(depth + 1);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((member) => toLiteral(member, depth + 1))
    : Object.entries(value).map(([key, member]) => `${keyLiteral(key)}: ${toLiteral(member, depth + 1)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return open + close;
  const space = isList ? '' : ' ';
  const line = `${open}${space}${members.join(', ')}${space}${close}`;
  if (depth > 0 && line.length + pad.length <= widest && !line.includes('\n')) return line;
  return `${open}\n${members.map((member) => `${pad}${member},\n`).join('')}${'  '.repeat(depth)}${close}`;
}

/** `__proto__` as a plain key would set the prototype. */
const keyLiteral = (key: string): string =>
  key === '__proto__'
    ? "['__proto__']"
    : /^[A-Za-z_$][\w$]*$/.test(key)
      ? key
      : textLiteral(key.replaceAll('\n', '\\n'), key);

/** Texts of several lines stay readable; a carriage return would not survive in them. */
function textLiteral(text: string, key?: string): string {
  if (key === undefined && text.includes('\n') && !/[\r\u2028\u2029]/.test(text) && text.isWellFormed()) {
    return `\`${text.replace(/\\|`|\$\{/g, (found) => `\\${found}`)}\``;
  }
  const json = JSON.stringify(key ?? text);
  return /['\\]/.test(json) ? json : `'${json.slice(1, -1)}'`;
}
