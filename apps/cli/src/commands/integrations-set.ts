import { integrationProvider, mergeIntegration } from '@parley/contracts';
import { lockIntegration, saveIntegration } from '@parley/db';
import { ensurePaymentType } from '@parley/payments';
import { usageFailure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox, secretOf } from '../secrets';
import { print, printJson } from '../terminal';
import { unknownProvider } from '../webhooks/providers';

export interface IntegrationsSetOptions extends ScopeOptions {
  apiKey?: string;
  secretKey?: string;
  apiUrl?: string;
  header?: string[];
  returnUrl?: string;
  currency?: string;
  from?: string;
  mediaReply?: string;
}

/** The options whose names differ from those of the fields. */
const optionNames: Readonly<Record<string, string>> = {
  headers: '--header',
  defaultCurrency: '--currency',
  baseUrl: '--api-url',
  url: '--api-url',
};

/** `parley integrations set`: stores the given settings and keeps the others. */
export async function runIntegrationsSet(provider: string, options: IntegrationsSetOptions): Promise<void> {
  const kind = integrationProvider(provider)?.kind;
  if (kind === undefined) throw usageFailure(unknownProvider(provider));
  const { returnUrl, currency: defaultCurrency, from, mediaReply } = options;
  const given = {
    apiKey: await secretOf(options.apiKey),
    secretKey: await secretOf(options.secretKey),
    [kind === 'mcp' ? 'url' : kind === 'models' ? 'baseUrl' : 'apiUrl']: options.apiUrl,
    headers: options.header && parseHeaders(options.header),
    ...{ returnUrl, defaultCurrency, from, mediaReply },
  };
  const box = openSecretBox();
  const name = await withScope(options, (db, scope) =>
    db.transaction(async (tx) => {
      const merged = mergeIntegration(provider, await lockIntegration(tx, box, scope, provider), given);
      if (!merged.ok) {
        const [{ path, message } = { path: '', message: 'is not valid' }] = merged.problems;
        throw usageFailure(`${optionOf(path)} ${message}`);
      }
      await saveIntegration(tx, box, scope, { provider, ...merged });
      if (provider === 'flow') await ensurePaymentType(tx, scope);
      return scope.name;
    }),
  );
  if (options.json) return printJson({ provider, configured: true });
  print(`Configured ${provider} in ${name}. Test it with: parley integrations test ${provider}`);
}

/** The option of a field, such as `--api-key` for `settings.apiKey`. */
function optionOf(path: string): string {
  const field = path.split('.')[1] ?? '';
  return optionNames[field] ?? `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function parseHeaders(written: string[]): Record<string, string> {
  return Object.fromEntries(
    written.map((text) => {
      const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(text) ?? [];
      if (!name || !value) throw usageFailure(`--header must be "Name: value", not "${text}"`);
      return [name, value];
    }),
  );
}
