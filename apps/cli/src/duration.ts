const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Parses a duration (`90m`, `12h`, `30d`, `2w`); null for other text. */
export function durationMs(text: string): number | null {
  const parsed = /^(\d{1,6})([mhdw])$/.exec(text);
  return parsed === null ? null : Number(parsed[1]) * unitMs[parsed[2] as keyof typeof unitMs];
}
