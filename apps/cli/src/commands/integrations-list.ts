import { findIntegration } from '@parley/db';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox } from '../secrets';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley integrations list`: of a secret the last four characters are shown. */
export async function runIntegrationsList({ json, ...options }: ScopeOptions & { json?: boolean }): Promise<void> {
  const box = openSecretBox();
  const { name, integrations } = await withScope(options, async (db, scope) => {
    const { rows } = await db.query<{ provider: string }>(
      'select provider from integrations where organization_id = $1 and environment = $2::"Environment" order by provider',
      [scope.organizationId, scope.environment],
    );
    const found = [];
    for (const { provider } of rows) {
      const integration = await findIntegration(db, box, scope, provider);
      if (integration === null) continue;
      const { active, config, secrets } = integration;
      const masked =
        secrets === null
          ? null
          : Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, maskSecret(value)]));
      found.push({ provider, active, config, secrets: masked });
    }
    return { name: scope.name, integrations: found };
  });
  if (json) return printJson({ integrations });
  if (integrations.length === 0) return note(`No integrations in ${name}`);
  const rows = integrations.map(({ provider, active, config, secrets }) => [
    provider,
    active ? 'active' : 'off',
    secrets === null ? 'no key in SECRETS_KEY opens them' : pairs(secrets),
    pairs(config),
  ]);
  print(formatTable(['PROVIDER', 'STATE', 'SECRETS', 'CONFIGURATION'], rows));
}

const maskSecret = (value: unknown): string =>
  typeof value === 'string' && value.length >= 12 ? `***${value.slice(-4)}` : '***';

const pairs = (values: object): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
