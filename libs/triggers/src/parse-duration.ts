const unitsMs: Record<string, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses a duration such as `1500`, `"1500"`, `"30s"`, `"1h30m"` or `"-2d"` into ms. Returns null if it is invalid. */
export function parseDurationMs(value: number | string): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const [, sign, text] = /^\s*([+-]?)\s*(\S.*?)\s*$/.exec(value) ?? [];
  if (text === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(`${sign}${text}`);
  if (!/^(\d+(\.\d+)?\s*(ms|s|m|h|d|w)\s*)+$/.test(text)) return null;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)/g);
  const total = [...parts].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * unitsMs[unit!]!,
    0,
  );
  return sign === '-' ? -total : total;
}
