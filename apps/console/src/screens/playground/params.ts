import type { JsonObject } from '@parley/client';
import { ownValue } from '@parley/rows';
import { parseObject } from '../../parts/parse-object';
import type { Param } from '../build/definitions';

/**
 * What a person has typed, by the name of the param; below `free`, all params of an agent
 * that declares none.
 */
export type Typed = Record<string, string>;
export const free = '*';

/** A param or all params that cannot be sent. */
export interface ParamProblem {
  name: string;
  kind: 'required' | 'number' | 'object';
}

/** A value as its field shows it. */
export const textOf = (value: JsonObject[string] | undefined): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);

function valueOf(
  { type, name }: Param,
  text: string,
): { value: JsonObject[string] } | ParamProblem {
  if (type === 'string') return { value: text };
  if (type === 'boolean') return { value: text === 'true' };
  if (type === 'number') {
    const value = Number(text);
    return Number.isFinite(value) ? { value } : { name, kind: 'number' };
  }
  const parsed = parseObject(text);
  return 'value' in parsed ? parsed : { name, kind: 'object' };
}

/**
 * The params to send: those that were typed. A param that was emptied is sent as null, because the
 * thread keeps the others.
 */
export function paramsOf(
  declared: readonly Param[],
  typed: Typed,
  ofThread: JsonObject,
): { params: JsonObject; problems: ParamProblem[] } {
  const params = new Map<string, JsonObject[string]>();
  const problems: ParamProblem[] = [];
  if (declared.length === 0) {
    const text = typed[free]?.trim() ?? '';
    const parsed = text === '' ? { value: {} } : parseObject(text);
    return 'value' in parsed
      ? { params: parsed.value, problems }
      : { params: {}, problems: [{ name: free, kind: 'object' }] };
  }
  for (const param of declared) {
    const { name } = param;
    const text = ownValue(typed, name);
    const isSet =
      text === undefined ? (ownValue(ofThread, name) ?? null) !== null : text.trim() !== '';
    if (!isSet && param.required) problems.push({ name, kind: 'required' });
    if (text === undefined) continue;
    if (!isSet) {
      if (Object.hasOwn(ofThread, name)) params.set(name, null);
      continue;
    }
    const read = valueOf(param, text);
    if ('value' in read) params.set(name, read.value);
    else problems.push(read);
  }
  return { params: Object.fromEntries(params), problems };
}
