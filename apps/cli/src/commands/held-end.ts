import type { HeldWork } from '@parley/db';
import { withDatabase } from '../database';
import { durationMs } from '../duration';
import { usageFailure } from '../failure';
import { describeHeld, heldKinds, listHeldWork } from '../held/held-kinds';
import { print, printJson } from '../terminal';

export interface HeldOptions {
  kind?: string;
  all?: boolean;
  olderThan?: string;
  json?: boolean;
}

const undroppable =
  'cannot be dropped: money or data would be lost. Release them when you have checked them';

/** `parley held release` and `parley held drop`: end the hold of one kind of work, or of all. */
export async function runHeldEnd(
  action: 'release' | 'drop',
  { json, ...options }: HeldOptions,
): Promise<void> {
  const kinds = chosenKinds(action, options);
  const olderThanMs = ageMs(options.olderThan);
  const counts: Record<string, number> = {};
  const skipped: Record<string, number> = {};
  await withDatabase((db) =>
    db.transaction(async (tx) => {
      for (const one of kinds) {
        const count = await one[action]!(tx, olderThanMs);
        if (count > 0) counts[one.kind] = count;
      }
      if (action === 'release' || !options.all) return;
      for (const { kind, count } of await listHeldWork(tx))
        if (kinds.every((one) => one.kind !== kind)) skipped[kind] = (skipped[kind] ?? 0) + count;
    }),
  );
  const ended = action === 'release' ? 'released' : 'dropped';
  const [isDone, isSkipped] = [counts, skipped].map((some) => Object.keys(some).length > 0);
  if (json) return printJson({ [ended]: counts, ...(isSkipped && { skipped }) });
  if (isDone) print(`${describeHeld(counts)} ${ended}.`);
  if (isSkipped) print(`${describeHeld(skipped)} ${undroppable}.`);
  if (!isDone && !isSkipped) print('No such work is held.');
}

function chosenKinds(action: 'release' | 'drop', { kind, all }: HeldOptions): readonly HeldWork[] {
  if ((kind === undefined) === !all) throw usageFailure('Give either --kind or --all');
  const possible = heldKinds.filter((one) => one[action] !== null);
  if (kind === undefined) return possible;
  const chosen = heldKinds.find((one) => one.kind === kind)!;
  if (!possible.includes(chosen)) throw usageFailure(`${kind} ${undroppable}`);
  return [chosen];
}

function ageMs(text = '0m'): number {
  const ms = durationMs(text);
  if (ms === null)
    throw usageFailure(`--older-than must be a duration such as 30m, 12h or 7d, not "${text}"`);
  return ms;
}
