import { ParleyApiError } from '@parley/client';
import type { ResultOf } from '@parley/client/manage';
import { integrationProvider } from '@parley/contracts';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, printList, withManage } from '../manage';
import { secretOf } from '../secrets';
import { print, printJson } from '../terminal';
import { unknownProvider } from '../webhooks/providers';

type Integration = ResultOf<'getIntegration'>;

/**
 * `parley integrations list`: prints the configured integrations, with the last four
 * characters of each secret.
 */
export const runIntegrationsList = (options: KeyOptions): Promise<void> => {
  const fieldsOf = (isSecret: boolean) => (one: Integration) =>
    one.fields
      .filter((field) => field.value !== null && field.isSecret === isSecret)
      .map(
        ({ name, value }) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
      .join(' ');
  return printList(options, {
    items: 'integrations',
    read: (manage) => async () => {
      const { data } = await manage.listIntegrations();
      return { data: data.filter(({ isConfigured }) => isConfigured), cursor: '', hasMore: false };
    },
    columns: {
      PROVIDER: ({ provider }) => provider,
      STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
      SECRETS: (one) =>
        one.isReadable ? fieldsOf(true)(one) : 'cannot be decrypted; set them again',
      CONFIGURATION: fieldsOf(false),
    },
  });
};

export interface IntegrationsSetOptions extends KeyOptions {
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
export async function runIntegrationsSet(
  provider: string,
  options: IntegrationsSetOptions,
): Promise<void> {
  const kind = integrationProvider(provider)?.kind;
  if (kind === undefined) throw usageFailure(unknownProvider(provider));
  const { returnUrl, currency: defaultCurrency, from, mediaReply } = options;
  const settings = {
    apiKey: await secretOf(options.apiKey),
    secretKey: await secretOf(options.secretKey),
    [kind === 'mcp' ? 'url' : kind === 'models' ? 'baseUrl' : 'apiUrl']: options.apiUrl,
    headers: options.header && parseHeaders(options.header),
    returnUrl,
    defaultCurrency,
    from,
    mediaReply,
  };
  await withManage(options, async (manage) => {
    try {
      await manage.updateIntegration({ provider, settings }).catch((error: unknown) => {
        if (!(error instanceof ParleyApiError) || error.code !== 'integration_not_found')
          throw error;
        return manage.createIntegration({ provider, settings });
      });
    } catch (error) {
      const [problem] = (error instanceof ParleyApiError && error.details) || [];
      throw problem === undefined
        ? error
        : usageFailure(`${optionOf(problem.path)} ${problem.message}`);
    }
  });
  if (options.json) return printJson({ provider, configured: true });
  print(`Configured ${provider}. Test it with: parley integrations test ${provider}`);
}

/** The option of a field, such as `--api-key` for `settings.apiKey`. */
function optionOf(path: string): string {
  const field = path.split('.')[1] ?? '';
  return (
    optionNames[field] ?? `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  );
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

/**
 * `parley integrations test`: sends a read-only request. Exits with status 1 when the provider
 * rejects the credentials.
 */
export async function runIntegrationsTest(
  provider: string,
  { json, ...options }: KeyOptions,
): Promise<void> {
  const { ok, reason } = await withManage(options, (manage) =>
    manage.testIntegration({ provider }),
  );
  if (!ok) throw new Failure(`${provider}: ${reason}`);
  if (json) return printJson({ provider, ok, message: reason });
  print(`${provider}: ${reason}`);
}

/**
 * `parley integrations disable|enable`: a disabled integration keeps its settings and is treated
 * as not configured.
 */
export async function runIntegrationsSwitch(
  provider: string,
  enabled: boolean,
  options: KeyOptions,
): Promise<void> {
  await withManage(options, (manage) => manage.updateIntegration({ provider, enabled }));
  if (options.json) return printJson({ provider, enabled });
  print(`${provider} is ${enabled ? 'enabled' : 'disabled'}.`);
}

/**
 * `parley integrations remove`: deletes the settings and secrets, after which pending payments
 * cannot be reconciled.
 */
export async function runIntegrationsRemove(
  provider: string,
  { json, ...options }: KeyOptions,
): Promise<void> {
  await withManage(options, (manage) => manage.removeIntegration({ provider }));
  if (json) return printJson({ provider, removed: true });
  print(`Removed ${provider}.`);
}
