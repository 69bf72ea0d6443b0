/** Returns the name of the type that a `$ref` means, or undefined when there is none. */
type NameOf = (ref: string) => string | undefined;

/**
 * The TypeScript type of a JSON Schema: one property a line, each with its description as a JSDoc
 * comment. What TypeScript cannot express, such as a pattern, is left out; a schema that is not
 * understood is `Json`. Schemas may be untrusted: every text in them is quoted or escaped, and no
 * reference is followed (docs/adr/0045-types-from-schemas.md).
 */
export function typeText(schema: unknown, nameOf: NameOf = () => undefined, indent = ''): string {
  if (!isObject(schema)) return 'Json';
  const inner = (one: unknown) => typeText(one, nameOf, indent);
  const { $ref, enum: values, anyOf, oneOf, type, items } = schema;
  if (typeof $ref === 'string') return nameOf($ref) ?? 'Json';
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(values)) return unionOf(values.map(literal), indent);
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return unionOf(alternatives.map(inner), indent);
  if (Array.isArray(type))
    return unionOf(
      type.map((one) => inner({ ...schema, type: one })),
      indent,
    );
  if (type === 'array') {
    const item = inner(items);
    return /^\w+$/.test(item) ? `${item}[]` : `Array<${item}>`;
  }
  if (type === 'object' || type === undefined) return objectText(schema, nameOf, indent);
  return typeof type === 'string' && Object.hasOwn(simpleTypes, type) ? simpleTypes[type]! : 'Json';
}

const simpleTypes: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

function objectText(schema: Schema, nameOf: NameOf, indent: string): string {
  const { type, required, additionalProperties } = schema;
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {});
  if (properties.length === 0) {
    if (type === undefined) return 'Json';
    if (additionalProperties === false) return 'Record<string, never>';
    const isMap = isObject(additionalProperties) && Object.keys(additionalProperties).length > 0;
    return isMap
      ? `{ [key: string]: ${typeText(additionalProperties, nameOf, indent)} }`
      : 'JsonObject';
  }
  const names = new Set(Array.isArray(required) ? required : []);
  const deeper = `${indent}  `;
  const lines = properties.map(([name, field]) => {
    const mark = names.has(name) ? '' : '?';
    return `${commentOf(field, deeper)}${deeper}${propertyName(name)}${mark}: ${typeText(field, nameOf, deeper)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** The description of a schema as a JSDoc comment that ends with a line break, or nothing. */
function commentOf(schema: unknown, indent = ''): string {
  const text =
    isObject(schema) && typeof schema.description === 'string' ? schema.description.trim() : '';
  if (text === '') return '';
  const lines = text
    .replaceAll('*/', '*\\/')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .flatMap((line) => wrap(line, maxLine - indent.length - 3))
    // A tag such as `@ts-expect-error` would have an effect.
    .map((line) => line.replace(/^@/, '\\@'));
  if (lines.length === 1 && indent.length + lines[0]!.length + 7 <= maxLine)
    return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

const maxLine = 120;

function wrap(line: string, width: number): string[] {
  const lines = [''];
  for (const word of line.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > width && lines.at(-1) !== '') lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);

const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : 'Json';
}

function unionOf(types: string[], indent: string): string {
  if (types.length === 0 || types.includes('Json')) return 'Json';
  const distinct = [...new Set(types)];
  const line = distinct.join(' | ');
  if (line.includes('\n') || line.length < maxLine - 40) return line;
  return distinct.map((one) => `\n${indent}  | ${one}`).join('');
}

type Schema = Record<string, unknown>;
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
