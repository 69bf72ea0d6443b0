/** Version 0.1.0 replaced the migrations from this one ... */
const firstReplaced = '20261120000000_init';
/** ... to this one by the baseline, which makes the same tables. */
const lastReplaced = '20261201140001_expand_author_of_trigger_runs';
const baseline = '20261128000000_baseline';

/** Whether a database or a backup with these migrations was made before version 0.1.0. */
export const isBeforeBaseline = (migrations: readonly string[]): boolean =>
  migrations.includes(firstReplaced);

/**
 * Returns the migrations of a backup as this version names them: those of before 0.1.0 are the
 * baseline, if all of them were applied.
 */
export function migrationsOfBackup(migrations: readonly string[]): string[] {
  if (!isBeforeBaseline(migrations)) return [...migrations];
  return migrations.includes(lastReplaced) ? [baseline] : [];
}

export const beforeBaselineProblem =
  'The database was made before version 0.1.0, whose migrations this version does not have. ' +
  'Start with an empty one (npm start -- --fresh), or run parley backup with the version that made it and parley restore ' +
  'with this one';
