import type { Json } from '@parley/client';
import { readValue, writeValue } from '@parley/rows';
import { formatDate, formatDateTime, formatDecimal } from '../../formats';
import type { DataField } from './fields';

/**
 * A value of a field for reading: numbers and dates as the language writes them. `writeValue` is
 * the text for editing.
 */
export function showValue(value: Json | undefined, { kind }: Pick<DataField, 'kind'>): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number')
    return kind === 'date' && isTime(value) ? formatDateTime(value) : formatDecimal(value);
  if (kind === 'date' && typeof value === 'string') return showDate(value);
  return writeValue(value);
}

/** The range of `Date`, in milliseconds on both sides of 1970. */
const isTime = (value: number): boolean => Math.abs(value) <= 8.64e15;

/**
 * A date of docs/reference/data.md#schemas. Browsers also read texts such as
 * `Order 5` as some date.
 */
const datePattern = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}|$)/;

function showDate(text: string): string {
  if (!datePattern.test(text) || !isExistingDay(text.slice(0, 10))) return text;
  const isDay = text.length === 10;
  // A day has no zone: it is read at noon, which is on this day in all zones.
  const at = Date.parse(isDay ? `${text}T12:00` : text);
  if (Number.isNaN(at)) return text;
  return isDay ? formatDate(at) : formatDateTime(at);
}

/** The value of a text that a person has typed for a field; null for an empty one. */
export function typedValue(text: string, field: DataField): ReturnType<typeof readValue> {
  if (text === '') return { ok: true, value: null };
  const option = field.options?.find((one) => String(one) === text);
  return option === undefined ? readValue(text, field.kind) : { ok: true, value: option };
}

/** Browsers read 30 February as a day of March. */
function isExistingDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** The local time of a moment, as inputs of browsers have it. */
export function localText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}
