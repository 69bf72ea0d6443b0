import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Json, JsonObject } from '@parley/contracts';
import { maxPathLength } from '../filter/parse-filters';
import { encodeValue } from './encode-value';
import { elementsHash, fieldHash, statusField } from './field-hash';

/**
 * The index entries of an entity, except the entry of its update time, and its shape: the set of
 * fields that it has.
 */
export interface IndexRows {
  fields: number[];
  values: Buffer[];
  shape: Shape;
}

/**
 * A set of fields. `fields` is null for `otherShape` and `overflowShape`, which do
 * not identify a set.
 */
export interface Shape {
  key: Buffer;
  fields: number[] | null;
}

/** The shape of entities whose type already has the maximum number of shapes. */
export const otherShape: Shape = { key: Buffer.of(0), fields: null };
/** The shape of entities that are not fully indexed. Every scan finds them. */
export const overflowShape: Shape = { key: Buffer.of(1), fields: null };

/** Maximum number of index entries of one entity. An entity with more gets `overflowShape`. */
const maxRows = 250;
/**
 * Maximum number of distinct scalars of an array. An entity with more in an array gets
 * `overflowShape`.
 */
const maxElements = 32;

/**
 * Computes the index entries of an entity, breadth first: the limit leaves out the deepest fields,
 * which are queried least.
 */
export function indexRows(data: JsonObject, status: string): IndexRows {
  const paths = new Map<number, string>();
  const fields: number[] = [statusField];
  const values: Buffer[] = [encodeValue(status)];
  let complete = true;

  const add = (field: number, value: Json): void => {
    fields.push(field);
    values.push(encodeValue(value));
  };
  const addElements = (path: string[], elements: Json[]): void => {
    const scalars = new Set(elements.filter((item) => typeof item !== 'object'));
    if (scalars.size > maxElements || fields.length + scalars.size > maxRows) complete = false;
    else for (const scalar of scalars) add(elementsHash(path), scalar);
  };

  const queue: { path: string[]; object: JsonObject }[] = [{ path: [], object: data }];
  for (let next = 0; next < queue.length; next += 1) {
    const { path, object } = queue[next]!;
    for (const key of Object.keys(object)) {
      const value = object[key] as Json;
      const childPath = [...path, key];
      const field = fieldHash(childPath);
      if (fields.length >= maxRows || paths.has(field)) {
        complete = false;
        continue;
      }
      paths.set(field, key);
      add(field, value);
      if (Array.isArray(value)) addElements(childPath, value);
      else if (typeof value === 'object' && value !== null && childPath.length < maxPathLength)
        queue.push({ path: childPath, object: value });
    }
  }
  return { fields, values, shape: complete ? shapeOf([...paths.keys()]) : overflowShape };
}

const shapes = new LRUCache<string, Shape, number[]>({
  max: 5_000,
  memoMethod(text, _old, { context: fields }) {
    const key = createHash('sha256').update(text).digest().subarray(0, 9);
    // The first byte distinguishes the key from those of `otherShape` and `overflowShape`.
    key[0]! |= 0x80;
    return { key, fields };
  },
});

const shapeOf = (fields: number[]): Shape =>
  shapes.memo(fields.sort((a, b) => a - b).join(), { context: fields });
