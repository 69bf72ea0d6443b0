import { isDeepStrictEqual } from 'node:util';
import {
  type KindResult,
  type ResourceKind,
  type ResourceSet,
  type SyncResult,
  resourceKinds,
} from '@parley/contracts';
import { colors } from '../terminal';
import { folders } from './load-folder';

type Definition = { slug?: string; name: string };

/** What a push does, kind by kind: `+` new, `~` changed with the fields that differ, `-` gone, `!` refused. */
export function formatResult({ results }: SyncResult, before: ResourceSet, after: ResourceSet): string {
  const lines = resourceKinds.flatMap((kind) => {
    const result = results[kind];
    return result === undefined ? [] : formatKind(kind, result, before[kind] ?? [], after[kind] ?? []);
  });
  return lines.join('\n');
}

function formatKind(kind: ResourceKind, result: KindResult, before: Definition[], after: Definition[]): string[] {
  const { created, updated, deleted, unchanged, refused = [] } = result;
  const changed = (slug: string) => colors.dim(changedFields(find(before, slug), find(after, slug)).join(', '));
  const lines = [
    ...created.map((slug) => colors.green(`  + ${slug}`)),
    ...updated.map((slug) => `${colors.yellow(`  ~ ${slug}`)}  ${changed(slug)}`.trimEnd()),
    ...deleted.map((slug) => colors.red(`  - ${slug}`)),
    ...refused.map(({ slug, reason }) => colors.magenta(`  ! ${slug} is not deleted: it ${reason}`)),
  ];
  const rest = unchanged.length === 0 ? '' : colors.dim(`  ${unchanged.length} unchanged`);
  if (lines.length === 0 && rest === '') return [];
  return [
    colors.bold(folders[kind]) + (lines.length === 0 ? rest : ''),
    ...lines,
    ...(lines.length && rest ? [rest] : []),
  ];
}

const find = (definitions: Definition[], slug: string): Definition | undefined =>
  definitions.find((definition) => (definition.slug ?? definition.name) === slug);

function changedFields(before: object = {}, after: object = {}): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) => !isDeepStrictEqual(Reflect.get(before, field), Reflect.get(after, field)));
}

/** `3 created, 1 updated`, or that there was nothing to do. */
export function summarize({ results }: SyncResult): string {
  const count = (key: 'created' | 'updated' | 'deleted') =>
    Object.values(results).reduce((sum, result) => sum + result[key].length, 0);
  const parts = (['created', 'updated', 'deleted'] as const)
    .map((key) => [count(key), key] as const)
    .filter(([number]) => number > 0)
    .map(([number, key]) => `${number} ${key}`);
  return parts.length === 0 ? 'nothing to change' : parts.join(', ');
}
