import type { Json } from '@parley/contracts';

/** How the values of a field are written as text. */
export type ValueKind =
  'text' | 'number' | 'integer' | 'boolean' | 'date' | 'object' | 'array' | 'any';
/** The sign before the decimals of a number: `.` in `1,234.5`, `,` in `1.234,5`. */
export type DecimalSign = '.' | ',';
export type ReadValue =
  | { ok: true; value: Json }
  | { ok: false; expected: 'number' | 'integer' | 'boolean' | 'json' | 'object' | 'array' };

const kinds = new Map<string, ValueKind>([
  ...(['number', 'float', 'decimal', 'money'] as const).map((name) => [name, 'number'] as const),
  ...(['date', 'datetime', 'timestamp'] as const).map((name) => [name, 'date'] as const),
  ...(['integer', 'boolean', 'object', 'array'] as const).map((name) => [name, name] as const),
  ...(['json', 'any'] as const).map((name) => [name, 'any'] as const),
]);

/**
 * The kind of a type name of a schema (docs/reference/data.md#schemas). Values of undeclared
 * fields are text.
 */
export const kindOf = (type: string | undefined): ValueKind => kinds.get(type ?? '') ?? 'text';

/**
 * Reads a text that is not empty as a value of a kind. `decimal` also allows separators of
 * thousands and a currency sign.
 */
export function readValue(text: string, kind: ValueKind, decimal?: DecimalSign): ReadValue {
  switch (kind) {
    case 'number':
    case 'integer': {
      const value = decimal === undefined ? plainNumber(text) : writtenNumber(text, decimal);
      if (value === null) return { ok: false, expected: 'number' };
      return kind === 'integer' && !Number.isInteger(value)
        ? { ok: false, expected: 'integer' }
        : { ok: true, value };
    }
    case 'boolean':
      return /^(true|false)$/i.test(text)
        ? { ok: true, value: text.toLowerCase() === 'true' }
        : { ok: false, expected: 'boolean' };
    case 'date':
      // Texts of digits are no dates of a schema, so they are Unix milliseconds.
      return { ok: true, value: /^-?\d+$/.test(text) ? Number(text) : text };
    case 'object':
    case 'array': {
      const value = parseJson(text);
      if (value === undefined) return { ok: false, expected: 'json' };
      const is = Array.isArray(value)
        ? 'array'
        : typeof value === 'object' && value !== null
          ? 'object'
          : null;
      return is === kind ? { ok: true, value } : { ok: false, expected: kind };
    }
    case 'any':
      return { ok: true, value: parseJson(text) ?? text };
    default:
      return { ok: true, value: text };
  }
}

/** A value as a text that `readValue` reads. Null and an absent value are empty. */
export const writeValue = (value: Json | undefined): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);

function plainNumber(text: string): number | null {
  const value = Number(text);
  return text.trim() === '' || !Number.isFinite(value) ? null : value;
}

function writtenNumber(text: string, decimal: DecimalSign): number | null {
  const bare = text.replaceAll(/[\s\p{Sc}]/gu, '');
  const [group, point] = decimal === '.' ? [',', '\\.'] : ['\\.', ','];
  const isNumber = new RegExp(
    `^[+-]?(?:\\d{1,3}(?:${group}\\d{3})+|\\d+)?(?:${point}\\d+)?(?:[eE][+-]?\\d+)?$`,
  );
  if (!isNumber.test(bare)) return null;
  return plainNumber(bare.replaceAll(decimal === '.' ? ',' : '.', '').replace(',', '.'));
}

/** Undefined for a text that is not JSON. */
function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
