import { type Environment, type Scope, environmentSchema } from '@parley/contracts';
import type { Organization } from '@parley/identity';
import { usageFailure } from './failure';

export interface NamedScope extends Scope {
  /** Used in messages, such as "development of demo". */
  name: string;
}

export function parseEnvironment(text: string): Environment {
  const parsed = environmentSchema.safeParse(text);
  if (!parsed.success) throw usageFailure(`--env must be development or production, not "${text}"`);
  return parsed.data;
}

export const scopeOf = (
  { id, tenant, slug }: Organization,
  environment: Environment,
): NamedScope => ({
  organizationId: id,
  tenant,
  environment,
  name: `${environment} of ${slug}`,
});
