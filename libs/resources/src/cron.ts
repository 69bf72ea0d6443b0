interface Field {
  name: string;
  min: number;
  max: number;
  /** Names that may stand for numbers, from `min` on. */
  words?: string[];
}

const fields: Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ') },
  // 7 is Sunday too, as in every cron.
  { name: 'day of week', min: 0, max: 7, words: 'sun mon tue wed thu fri sat'.split(' ') },
];

/** Why this is not a cron expression of five fields (decisions.md, Triggers), or null when it is. */
export function cronProblem(expression: string): string | null {
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    return `must have 5 fields (minute hour day month weekday), not ${parts.length}`;
  }
  for (const [index, field] of fields.entries()) {
    const wrong = parts[index]!.split(',').find((item) => !isItem(item, field));
    if (wrong !== undefined) return `has "${wrong}" as ${field.name}, which allows ${field.min}-${field.max}`;
  }
  return null;
}

/** `*`, `5`, `1-5`, each with an optional step such as `/15`. */
function isItem(item: string, field: Field): boolean {
  const match = /^(\*|[a-z0-9]+(?:-[a-z0-9]+)?)(?:\/(\d+))?$/i.exec(item);
  if (match === null) return false;
  const [, range, step] = match;
  if (step !== undefined && (Number(step) < 1 || Number(step) > field.max)) return false;
  if (range === '*') return true;
  const bounds = range!.split('-').map((text) => valueOf(text, field));
  return bounds.every((value) => value >= field.min && value <= field.max) && bounds[0]! <= bounds.at(-1)!;
}

function valueOf(text: string, { min, words }: Field): number {
  const word = words?.indexOf(text.toLowerCase()) ?? -1;
  if (word !== -1) return word + min;
  return /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
}

/** Whether this is a time zone that the platform knows (IANA). */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
