import type { Json } from '@parley/contracts';

/**
 * Keys of the field index: JSON values as bytes that sort in the order null, false, true, numbers,
 * strings by code point, objects and arrays (which all have the same key). The SQL function
 * `entity_index_key` returns the same bytes.
 */
export const tag = {
  null: 0x10,
  false: 0x20,
  true: 0x21,
  number: 0x30,
  string: 0x40,
  composite: 0x50,
} as const;

/**
 * Strings are truncated to this many bytes of UTF-8, so that different strings may
 * have the same key.
 */
const maxStringBytes = 100;

export function encodeValue(value: Json): Buffer {
  switch (typeof value) {
    case 'number':
      return encodeNumber(value);
    case 'string':
      return encodeString(value);
    case 'boolean':
      return Buffer.of(value ? tag.true : tag.false);
    default:
      return Buffer.of(value === null ? tag.null : tag.composite);
  }
}

/**
 * Big-endian IEEE 754 with the sign bit set, or with all bits inverted if the number is negative.
 */
function encodeNumber(value: number): Buffer {
  const key = Buffer.allocUnsafe(9);
  key[0] = tag.number;
  key.writeDoubleBE(value === 0 ? 0 : value, 1);
  if (value < 0) for (let i = 1; i < 9; i += 1) key[i] = ~key[i]! & 0xff;
  else key[1]! |= 0x80;
  return key;
}

function encodeString(value: string): Buffer {
  // Each UTF-16 unit takes at least one byte, so later units do not count. One more is kept so that
  // no surrogate pair is split.
  const bytes = Buffer.from(
    value.length > maxStringBytes ? value.slice(0, maxStringBytes + 1) : value,
    'utf8',
  );
  return Buffer.concat([Buffer.of(tag.string), bytes.subarray(0, maxStringBytes)]);
}

export const isTruncated = (key: Buffer): boolean =>
  key[0] === tag.string && key.length > maxStringBytes;

/** The smallest key that is greater than this one. */
export const successor = (key: Buffer): Buffer => Buffer.concat([key, Buffer.of(0)]);
