import {
  type Json,
  type KindResult,
  type ResourceKind,
  type ResourceSet,
  type SyncResult,
  resourceKinds,
  paymentType,
} from '@parley/contracts';
import { safeLine } from '../safe-text';
import { colors, note } from '../terminal';
import { type FieldChange, type LineChange, compareFields, compareLines } from './compare';
import { folders } from './load-folder';

type Definition = { slug?: string; name: string };

interface FormatOptions {
  /** Also show the values of changed fields, and changed lines of texts. */
  detailed?: boolean;
}

/**
 * The changes of a push by kind: `+` created, `~` updated with the changed fields, `-` deleted,
 * `!` not deleted.
 */
export function formatChanges(
  { results }: SyncResult,
  before: ResourceSet,
  after: ResourceSet,
  options: FormatOptions = {},
): string {
  const lines = resourceKinds.flatMap((kind) => {
    const result = results[kind];
    return result === undefined
      ? []
      : formatKind(kind, result, before[kind] ?? [], after[kind] ?? [], options);
  });
  return lines.join('\n');
}

function formatKind(
  kind: ResourceKind,
  result: KindResult,
  before: Definition[],
  after: Definition[],
  { detailed = false }: FormatOptions,
): string[] {
  const { created, updated, deleted, unchanged, refused = [] } = result;
  const lines = [
    ...created.map((slug) => colors.green(`  + ${slug}`)),
    ...updated.flatMap((slug) => {
      const changes = compareFields(find(before, slug) ?? {}, find(after, slug) ?? {});
      if (detailed) return [colors.yellow(`  ~ ${slug}`), ...changes.flatMap(formatField)];
      const names = new Set(changes.map(({ path }) => path.split('.')[0]));
      return `${colors.yellow(`  ~ ${slug}`)}  ${colors.dim([...names].join(', '))}`.trimEnd();
    }),
    ...deleted.map((slug) => colors.red(`  - ${slug}`)),
    ...refused.map(({ slug, reason }) =>
      colors.magenta(`  ! ${slug} is not deleted: it ${reason}`),
    ),
  ];
  const rest = unchanged.length === 0 ? '' : colors.dim(`  ${unchanged.length} unchanged`);
  if (lines.length === 0 && rest === '') return [];
  return [
    colors.bold(folders[kind]) + (lines.length === 0 ? rest : ''),
    ...lines,
    ...(lines.length && rest ? [rest] : []),
  ];
}

/**
 * Definitions that the environment has and the folder lacks, of the kinds that the folder has:
 * `agents helper`.
 */
export const namesOfExtra = (before: ResourceSet, after: ResourceSet): string[] =>
  resourceKinds.flatMap((kind) => {
    const own = after[kind];
    const names = (before[kind] ?? [])
      .map((one: Definition) => one.slug ?? one.name)
      // Parley itself creates the type of payments, and a push does not delete it.
      .filter((name) => kind !== 'entityTypes' || name !== paymentType);
    return own === undefined
      ? []
      : names
          .filter((name) => find(own, name) === undefined)
          .map((name) => safeLine(`${folders[kind]} ${name}`));
  });

/** Takes the result of a dry run with --prune. */
export function noteExtraDefinitions({ results }: SyncResult): void {
  const deletable = named(results, ({ deleted }) => deleted);
  const refused = namesOfRefused(results);
  if (deletable.length > 0)
    note(colors.dim(`Not in the folder, and kept: ${deletable.join(', ')}. --prune deletes them.`));
  if (refused.length > 0)
    note(colors.dim(`Not in the folder, and --prune cannot delete: ${refused.join(', ')}.`));
}

/** `entity-types order (still has 2 entities)`. */
export const namesOfRefused = (results: SyncResult['results']): string[] =>
  named(results, ({ refused = [] }) => refused.map(({ slug, reason }) => `${slug} (${reason})`));

const named = (results: SyncResult['results'], pick: (result: KindResult) => string[]): string[] =>
  resourceKinds.flatMap((kind) => {
    const result = results[kind];
    return result === undefined
      ? []
      : pick(result).map((name) => safeLine(`${folders[kind]} ${name}`));
  });

export const find = (definitions: Definition[], slug: string): Definition | undefined =>
  definitions.find((definition) => (definition.slug ?? definition.name) === slug);

function formatField({ path, before, after }: FieldChange): string[] {
  if (
    typeof before === 'string' &&
    typeof after === 'string' &&
    (before.includes('\n') || after.includes('\n'))
  ) {
    if (withUnixLines(before) === withUnixLines(after))
      return [`      ${path}: only the ends of lines differ (CRLF and LF)`];
    return [`      ${path}:`, ...formatLines(compareLines(before, after))];
  }
  const shown = (value: Json | undefined) =>
    value === undefined ? 'absent' : cut(JSON.stringify(value));
  return [`      ${path}: ${colors.red(shown(before))} → ${colors.green(shown(after))}`];
}

const withUnixLines = (text: string): string => text.replaceAll('\r\n', '\n');

const cut = (text: string): string =>
  safeLine(text.length <= 200 ? text : `${text.slice(0, 199)}…`);
const contextLines = 2;

/** Changed lines with the lines around them. */
function formatLines(changes: LineChange[]): string[] {
  const isNear = (at: number) =>
    changes
      .slice(Math.max(0, at - contextLines), at + contextLines + 1)
      .some(([sign]) => sign !== ' ');
  const paint = { '-': colors.red, '+': colors.green, ' ': colors.dim };
  return changes.flatMap(([sign, line], at) => {
    if (isNear(at)) return [`        ${paint[sign](`${sign} ${safeLine(line)}`)}`];
    return at > 0 && isNear(at - 1) ? [colors.dim('        …')] : [];
  });
}

/**
 * `3 created, 1 updated`; of a dry run `would create 3, update 1`. `nothing to change` when
 * there is no change.
 */
export function summarize({ results, dryRun }: SyncResult): string {
  const parts = (['created', 'updated', 'deleted'] as const)
    .map((key) => [countOf(results, key), key] as const)
    .filter(([number]) => number > 0)
    .map(([number, key]) => (dryRun ? `${key.slice(0, -1)} ${number}` : `${number} ${key}`));
  if (parts.length === 0) return 'nothing to change';
  return `${dryRun ? 'would ' : ''}${parts.join(', ')}`;
}

export const isEmpty = ({ results }: SyncResult): boolean =>
  (['created', 'updated', 'deleted'] as const).every((key) => countOf(results, key) === 0);

export const countOf = (
  results: SyncResult['results'],
  key: 'created' | 'updated' | 'deleted',
): number => Object.values(results).reduce((sum, result) => sum + result[key].length, 0);
