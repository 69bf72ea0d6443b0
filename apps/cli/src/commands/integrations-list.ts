import { listIntegrations } from '@parley/db';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox } from '../secrets';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley integrations list`: prints the integrations of an environment, with the last four characters of each secret. */
export async function runIntegrationsList({ json, ...options }: ScopeOptions): Promise<void> {
  const box = openSecretBox();
  const { name, integrations } = await withScope(options, async (db, scope) => {
    const integrations = (await listIntegrations(db, box, scope)).map(({ provider, active, config, secrets }) => ({
      provider,
      active,
      config,
      secrets: secrets && Object.fromEntries(Object.entries(secrets).map(([key, value]) => [key, maskSecret(value)])),
    }));
    return { name: scope.name, integrations };
  });
  if (json) return printJson({ integrations });
  if (integrations.length === 0) return note(`No integrations in ${name}`);
  const rows = integrations.map(({ provider, active, config, secrets }) => [
    provider,
    active ? 'enabled' : 'disabled',
    secrets === null ? 'cannot be decrypted with SECRETS_KEY' : pairs(secrets),
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
