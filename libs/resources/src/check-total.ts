import { type Scope, definitionLimits, resourceKinds } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { slugOf } from './definition';
import type { Plan } from './plan-push';
import { type DefinitionSize, readSizes } from './stored-resources';

/** The definitions of an environment would be too large together. */
export interface TooLarge {
  bytes: number;
  /** The largest of them. */
  largest: DefinitionSize[];
}

const maxNamed = 5;

/**
 * Checks the size of all definitions of an environment after a push. An environment that is too
 * large already may be pushed to as long as it does not grow.
 */
export async function checkTotal(
  client: Queryable,
  scope: Scope,
  plan: Plan,
  deleted: Readonly<Record<DefinitionSize['kind'], ReadonlySet<string>>>,
): Promise<TooLarge | null> {
  const written = resourceKinds.flatMap((kind) => {
    const { created = [], updated = [] } = plan[kind] ?? {};
    return [...created, ...updated].map((definition) =>
      sizeOf(kind, slugOf(definition), definition),
    );
  });
  if (written.length === 0) return null;
  const stored = await readSizes(client, scope);
  const names = new Set(written.map(nameOf));
  const kept = stored.filter((one) => !names.has(nameOf(one)) && !deleted[one.kind].has(one.slug));
  const after = [...kept, ...written];
  const bytes = sum(after);
  if (bytes <= definitionLimits.totalBytes || bytes <= sum(stored)) return null;
  return { bytes, largest: after.sort((a, b) => b.bytes - a.bytes).slice(0, maxNamed) };
}

const sizeOf = (
  kind: DefinitionSize['kind'],
  slug: string,
  definition: object,
): DefinitionSize => ({
  kind,
  slug,
  bytes: Buffer.byteLength(JSON.stringify(definition)),
});

const nameOf = ({ kind, slug }: DefinitionSize): string => `${kind}/${slug}`;

const sum = (sizes: readonly DefinitionSize[]): number =>
  sizes.reduce((total, { bytes }) => total + bytes, 0);
