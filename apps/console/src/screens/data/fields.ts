import type { Entity, EntityTypeView, Json, JsonObject } from '@parley/client';
import { type ValueKind, kindOf } from '@parley/rows';

/** A field of an entity type, as its definition describes it. */
export interface DataField {
  /** Below `data`; names of nested fields are joined by dots. */
  name: string;
  /** The type names, such as `string` or `number or null`. */
  type: string;
  kind: ValueKind;
  isRequired: boolean;
  isSearched: boolean;
  /** The allowed values. */
  options?: readonly Json[];
  /** The entity type whose ids it holds. */
  references?: string;
  /** The type of the elements of an array. */
  items?: string;
  description?: string;
  /** The fields of an object. */
  properties: DataField[];
}

export interface DataType extends EntityTypeView {
  fields: DataField[];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a pushed schema: a flat map of field to type name, or a subset of JSON Schema. */
export function readFields(
  schema: JsonObject,
  searchFields: readonly string[] = [],
  prefix = '',
): DataField[] {
  const isFull =
    isObject(schema.properties) && (schema.type === undefined || schema.type === 'object');
  const required = isFull && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isFull ? (schema.properties as JsonObject) : schema).map(
    ([own, described]): DataField => {
      const name = prefix + own;
      const field: JsonObject = isObject(described) ? described : { type: described ?? 'any' };
      const { type, references, description, items } = field;
      const options = Array.isArray(field.enum) ? field.enum : undefined;
      const fallback = references === undefined && options === undefined ? 'any' : 'string';
      const types = (Array.isArray(type) ? type : [type ?? fallback]).filter(
        (one) => typeof one === 'string',
      );
      const first = types.find((one) => one !== 'null') ?? 'any';
      const inner = isObject(items) ? items.type : items;
      return {
        name,
        type: types.join(' / '),
        kind: kindOf(first),
        isRequired: required.includes(own) || field.required === true,
        isSearched: searchFields.includes(name),
        ...(options && { options }),
        ...(typeof references === 'string' && { references }),
        ...(typeof inner === 'string' && { items: inner }),
        ...(typeof description === 'string' && { description }),
        properties: isObject(field.properties)
          ? readFields({ ...field, type: 'object' }, searchFields, `${name}.`)
          : [],
      };
    },
  );
}

/** All fields, those of objects too. */
export const withNested = (fields: readonly DataField[]): DataField[] =>
  fields.flatMap((field) => [field, ...withNested(field.properties)]);

/**
 * What an entity is called where only a line is for it: its first search field or
 * text, else its id.
 */
export function labelOf(
  entity: Pick<Entity, 'id' | 'data'>,
  { searchFields, fields }: DataType,
): string {
  const texts = fields.filter(
    ({ kind, references }) => kind === 'text' && references === undefined,
  );
  for (const name of [...searchFields, ...texts.map((field) => field.name)]) {
    const value = Object.hasOwn(entity.data, name) ? entity.data[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.slice(0, 200);
    if (typeof value === 'number') return String(value);
  }
  return entity.id;
}
