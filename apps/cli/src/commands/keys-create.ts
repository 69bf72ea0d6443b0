import { type Permission, permissionSchema } from '@parley/contracts';
import { createApiKey } from '@parley/identity';
import { listRoles } from '@parley/permissions';
import { withDatabase } from '../database';
import { durationMs } from '../duration';
import { Failure, usageFailure } from '../failure';
import { findOrganization } from '../organizations';
import { parseEnvironment, scopeOf } from '../scope';
import { note, print, printJson } from '../terminal';

export interface KeysCreateOptions {
  env: string;
  permissions: string;
  name: string;
  org?: string;
  role?: string;
  expires?: string;
  json?: boolean;
}

/** `parley keys create`: prints the key, and nothing else, on stdout. It cannot be shown again. */
export async function runKeysCreate(options: KeysCreateOptions): Promise<void> {
  const environment = parseEnvironment(options.env);
  const permissions = parsePermissions(options.permissions);
  const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now());
  const { name, role } = options;
  if (role !== undefined && permissions.includes('manage'))
    throw usageFailure('A key with a role cannot have the permission manage');
  if (name.trim() === '') throw usageFailure('--name must not be empty');
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, options.org);
    const scope = scopeOf(organization, environment);
    // All requests with a key whose role does not exist are refused.
    if (role !== undefined && !(await listRoles(db, scope)).some(({ slug }) => slug === role))
      throw new Failure(`No role "${role}" in ${environment}. Push it first`);
    const { id, key } = await createApiKey(db, { ...scope, name: name.trim(), permissions, role, expiresAt });
    if (options.json) {
      return printJson({
        id,
        key,
        name: name.trim(),
        organization: organization.slug,
        environment,
        permissions,
        expiresAt,
      });
    }
    const until = expiresAt === undefined ? '' : `, valid until ${expiresAt.toISOString()}`;
    note(`Created key ${id}: ${permissions.join(', ')} in ${environment} of ${organization.slug}${until}.`);
    note('Store it now. It cannot be shown again.');
    print(key);
  });
}

function parsePermissions(text: string): Permission[] {
  const names = text.split(',').map((name) => name.trim());
  const parsed = names.map((name) => permissionSchema.safeParse(name));
  const wrong = names.filter((_, index) => !parsed[index]!.success);
  if (wrong.length > 0)
    throw usageFailure(`--permissions must be chat, data, sync, manage or *, not "${wrong.join(', ')}"`);
  return [...new Set(parsed.map((result) => result.data!))];
}

/** Parses a duration (`90m`, `12h`, `30d`, `2w`) or an ISO 8601 date, which must be in the future. */
export function parseExpiry(text: string, nowMs: number): Date {
  const duration = durationMs(text);
  const date =
    duration !== null ? new Date(nowMs + duration) : new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN);
  if (Number.isNaN(date.getTime())) throw usageFailure(`--expires must be 30d, 12h, 2w or a date, not "${text}"`);
  if (date.getTime() <= nowMs) throw usageFailure('--expires is in the past');
  return date;
}
