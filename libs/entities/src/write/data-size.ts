import { type JsonObject, type Scope, reportRefusal } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import type { TooLarge } from '../result';

/**
 * Maximum size of `data` as PostgreSQL returns it, in bytes of UTF-8
 * (docs/reference/limits.md#data).
 */
export const maxDataBytes = 1_048_576;
/**
 * PostgreSQL writes a number such as 1e300 without an exponent, so that 7 bytes of a
 * request become 303.
 */
const maxGrowth = 48;

const mergedSize = statement(
  'merged-data-size',
  `select octet_length(($storedText::jsonb || $patchText::jsonb)::text) as bytes`,
  {
    bytes: column.int4,
  },
);

/**
 * The failure when `patch`, merged into the locked entity with this text of its `data`, exceeds the
 * maximum size. An entity that exceeded it before may keep its size or shrink. Most patches are too
 * small to need the statement.
 */
export async function tooLarge(
  db: Queryable,
  scope: Scope,
  patch: JsonObject,
  storedText = '{}',
): Promise<TooLarge | null> {
  const patchText = JSON.stringify(patch);
  const storedBytes = Buffer.byteLength(storedText);
  if (storedBytes + maxGrowth * Buffer.byteLength(patchText) <= maxDataBytes) return null;
  const { bytes } = (await db.query(scope, mergedSize, { storedText, patchText })).rows[0]!;
  if (bytes <= Math.max(maxDataBytes, storedBytes)) return null;
  reportRefusal('data_too_large');
  return { ok: false, reason: 'too_large', bytes };
}
