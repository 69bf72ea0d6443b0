import { type Environment, type Scope, environmentSchema } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Organization } from '@parley/identity';
import { withDatabase } from './database';
import { usageFailure } from './failure';
import { findOrganization } from './organizations';

/** Options that `inScope` adds to a command. */
export interface ScopeOptions {
  env?: string;
  org?: string;
  json?: boolean;
}

export interface NamedScope extends Scope {
  /** Used in messages, such as "development of demo". */
  name: string;
}

export function parseEnvironment(text: string): Environment {
  const parsed = environmentSchema.safeParse(text);
  if (!parsed.success) throw usageFailure(`--env must be development or production, not "${text}"`);
  return parsed.data;
}

export const scopeOf = ({ id, tenant, slug }: Organization, environment: Environment): NamedScope => ({
  organizationId: id,
  tenant,
  environment,
  name: `${environment} of ${slug}`,
});

/** Runs `work` in one environment (default: development) of one organization (default: the only one). */
export async function withScope<T>(
  { env = 'development', org }: ScopeOptions,
  work: (db: Db, scope: NamedScope) => Promise<T>,
): Promise<T> {
  const environment = parseEnvironment(env);
  return withDatabase(async (db) => {
    return work(db, scopeOf(await findOrganization(db, org), environment));
  });
}
