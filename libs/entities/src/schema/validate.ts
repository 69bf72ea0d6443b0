import { type ErrorDetail, type Json, type JsonObject, canonicalJson } from '@parley/contracts';
import { canonicalTexts } from '../canonical-texts';
import { maxProblems } from '../result';
import { fitsType } from './field-types';
import type { FieldSchema, TypeSchema } from './type-schema';

const maxEnumChars = 500;

/**
 * The problems of a new entity's data: declared fields must have their type, and required fields
 * must be present.
 */
export function validateNew(schema: TypeSchema, data: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const [name, field] of schema) checkField(problems, field, data, name, 'data');
  return problems;
}

/** The problems of the fields that a merge sets. Other fields are not checked. */
export function validateMerge(schema: TypeSchema, patch: JsonObject): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  for (const name of Object.keys(patch)) {
    const field = schema.get(name);
    if (field !== undefined) checkField(problems, field, patch, name, 'data');
  }
  return problems;
}

function checkField(
  problems: ErrorDetail[],
  field: FieldSchema,
  data: JsonObject,
  name: string,
  path: string,
): void {
  if (Object.hasOwn(data, name)) checkValue(problems, field, data[name] as Json, `${path}.${name}`);
  else checkMissing(problems, field, `${path}.${name}`);
}

function checkMissing(problems: ErrorDetail[], field: FieldSchema, path: string): void {
  if (field.required && problems.length < maxProblems)
    problems.push({ path, message: 'is required' });
}

/** Adds the problems of a value, in time proportional to its size. */
function checkValue(problems: ErrorDetail[], field: FieldSchema, value: Json, path: string): void {
  if (problems.length >= maxProblems) return;
  if (value === null && !field.types.includes('null')) return checkMissing(problems, field, path);
  const { types, enum: allowed, references, items, properties } = field;
  if (types.length > 0 && !types.some((type) => fitsType(type, value)))
    problems.push({ path, message: `must be of type ${types.join(' or ')}` });
  else if (references !== undefined && typeof value !== 'string')
    problems.push({ path, message: `must be the id of an entity of type ${references}` });
  else if (allowed !== undefined && !canonicalTexts(allowed).has(canonicalJson(value)))
    problems.push({ path, message: `must be one of ${listOf(allowed)}` });
  else if (Array.isArray(value)) {
    if (items !== undefined)
      value.forEach((item, index) => checkValue(problems, items, item, `${path}.${index}`));
  } else if (typeof value === 'object' && value !== null && properties !== undefined)
    for (const [name, inner] of Object.entries(properties))
      checkField(problems, inner, value, name, path);
}

function listOf(allowed: Json[]): string {
  const list = allowed
    .slice(0, maxEnumChars)
    .map((item) => JSON.stringify(item))
    .join(', ');
  return list.length <= maxEnumChars ? list : `${list.slice(0, maxEnumChars)}…`;
}
