import { type Environment, type Scope, environmentSchema } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { Organization } from '@parley/identity';
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

export const scopeOf = ({ id, tenant, slug }: Organization, environment: Environment): NamedScope => ({
  organizationId: id,
  tenant,
  environment,
  name: `${environment} of ${slug}`,
});

/** Runs `work` in one environment of one organization: development unless told, and the only or the demo one. */
export async function withScope<T>(
  { env = 'development', org }: ScopeOptions,
  work: (db: Db, scope: NamedScope) => Promise<T>,
): Promise<T> {
  const environment = parseEnvironment(env);
  return withDatabase(async (db) => {
    return work(db, scopeOf(await findOrganization(db, org), environment));
  });
}
