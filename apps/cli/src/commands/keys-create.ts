import { type Environment, type Permission, permissionSchema } from '@parley/contracts';
import { createApiKey } from '@parley/identity';
import { listRoles } from '@parley/permissions';
import { withDatabase } from '../database';
import { durationMs } from '../duration';
import { hasDatabase } from '../environment';
import { Failure, usageFailure } from '../failure';
import { withManage } from '../manage';
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
  const expiresAt =
    options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now());
  const { name, role } = options;
  if (role !== undefined && permissions.includes('manage'))
    throw usageFailure('A key with a role cannot have the permission manage');
  if (name.trim() === '') throw usageFailure('--name must not be empty');
  const wanted = { name: name.trim(), permissions, role, expiresAt };
  const { id, key, organization } = hasDatabase()
    ? await createInDatabase({ ...wanted, environment, org: options.org })
    : await withManage(options, async (manage) => {
        const { slug } = await manage.getOrganization();
        const made = await manage.createApiKey({ ...wanted, expiresAt: expiresAt?.getTime() });
        return { ...made, organization: slug };
      });
  if (options.json)
    return printJson({ id, key, organization, environment, ...wanted, role: undefined });
  const until = expiresAt === undefined ? '' : `, valid until ${expiresAt.toISOString()}`;
  note(
    `Created key ${id}: ${permissions.join(', ')} in ${environment} of ${organization}${until}.`,
  );
  note('Store it now. It cannot be shown again.');
  print(key);
}

interface NewKey {
  name: string;
  permissions: Permission[];
  role: string | undefined;
  expiresAt: Date | undefined;
  environment: Environment;
  org: string | undefined;
}

/** For the first key of an organization: the API needs one already. */
const createInDatabase = ({ environment, org, ...wanted }: NewKey) =>
  withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    const scope = scopeOf(organization, environment);
    // All requests with a key whose role does not exist are refused.
    if (
      wanted.role !== undefined &&
      !(await listRoles(db, scope)).some(({ slug }) => slug === wanted.role)
    )
      throw new Failure(`No role "${wanted.role}" in ${environment}. Push it first`);
    return {
      ...(await createApiKey(db, { ...scope, ...wanted })),
      organization: organization.slug,
    };
  });

function parsePermissions(text: string): Permission[] {
  const names = text.split(',').map((name) => name.trim());
  const parsed = names.map((name) => permissionSchema.safeParse(name));
  const wrong = names.filter((_, index) => !parsed[index]!.success);
  if (wrong.length > 0)
    throw usageFailure(
      `--permissions must be chat, data, sync, manage or *, not "${wrong.join(', ')}"`,
    );
  return [...new Set(parsed.map((result) => result.data!))];
}

/**
 * Parses a duration (`90m`, `12h`, `30d`, `2w`) or an ISO 8601 date, which must be in the future.
 */
export function parseExpiry(text: string, nowMs: number): Date {
  const duration = durationMs(text);
  const date =
    duration !== null
      ? new Date(nowMs + duration)
      : new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN);
  if (Number.isNaN(date.getTime()))
    throw usageFailure(`--expires must be 30d, 12h, 2w or a date, not "${text}"`);
  if (date.getTime() <= nowMs) throw usageFailure('--expires is in the past');
  return date;
}
