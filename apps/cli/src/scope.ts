import { type Environment, type Scope, environmentSchema } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { withDatabase } from './database';
import { usageFailure } from './failure';
import { findOrganization } from './organizations';

export interface ScopeOptions {
  env?: string;
  org?: string;
}

export interface NamedScope extends Scope {
  /** For messages: "development of demo". */
  name: string;
}

export function parseEnvironment(text: string): Environment {
  const parsed = environmentSchema.safeParse(text);
  if (!parsed.success) throw usageFailure(`--env must be development or production, not "${text}"`);
  return parsed.data;
}

/** Runs `work` in one environment of one organization: development unless told, and the only or the demo one. */
export async function withScope<T>(
  { env = 'development', org }: ScopeOptions,
  work: (db: Queryable, scope: NamedScope) => Promise<T>,
): Promise<T> {
  const environment = parseEnvironment(env);
  return withDatabase(async (db) => {
    const { id, slug } = await findOrganization(db, org);
    return work(db, { organizationId: id, environment, name: `${environment} of ${slug}` });
  });
}
