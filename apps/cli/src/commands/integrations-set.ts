import type { JsonObject } from '@parley/contracts';
import { findIntegration, saveIntegration } from '@parley/db';
import { currencySchema, ensurePaymentType } from '@parley/payments';
import { usageFailure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox, secretOf } from '../secrets';
import { print, printJson } from '../terminal';
import { integrationSecrets, isMcpServer, isModelServer, unknownProvider } from '../webhooks/providers';

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

const flowUrl = 'https://www.flow.cl/api';

/** Options that only some providers accept. */
const accepts: Readonly<Record<string, (provider: string) => boolean>> = {
  secretKey: (provider) => provider === 'flow',
  returnUrl: (provider) => provider === 'flow',
  currency: (provider) => provider === 'flow',
  from: (provider) => provider === 'resend',
  mediaReply: (provider) => provider === 'kapso',
  header: isMcpServer,
};
/** Matches a sender: `hello@acme.example` or `Acme <hello@acme.example>`. */
const senderPattern = /^([^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

/** `parley integrations set`: stores the given settings and keeps the others. */
export async function runIntegrationsSet(provider: string, options: IntegrationsSetOptions): Promise<void> {
  const isMcp = isMcpServer(provider);
  const isServer = isMcp || provider === 'ollama' || isModelServer(provider);
  const required = isServer ? [] : integrationSecrets[provider];
  if (required === undefined) throw usageFailure(unknownProvider(provider));
  for (const [name, isAccepted] of Object.entries(accepts))
    if (name in options && !isAccepted(provider)) throw usageFailure(`${provider} does not accept ${optionOf(name)}`);
  const { apiUrl, returnUrl } = options;
  if (options.from !== undefined && !senderPattern.test(options.from.trim()))
    throw usageFailure(`--from must be an address or "Name <address>", not "${options.from}"`);
  const headers = options.header && parseHeaders(options.header);
  for (const [name, url] of Object.entries({ '--api-url': apiUrl, '--return-url': returnUrl }))
    if (url && !/^https?:\/\/\S+$/.test(url)) throw usageFailure(`${name} must be an http or https address`);
  const currency = currencySchema.optional().safeParse(options.currency);
  if (!currency.success) throw usageFailure(`--currency ${currency.error.issues[0]!.message}`);
  const given = { apiKey: await secretOf(options.apiKey), secretKey: await secretOf(options.secretKey) };
  const box = openSecretBox();
  const name = await withScope(options, async (db, scope) => {
    const before = await findIntegration(db, box, scope, provider);
    const secrets: JsonObject = { ...before?.secrets };
    for (const secret of required) {
      const value = given[secret as keyof typeof given] ?? secrets[secret];
      if (!value) throw usageFailure(`${provider} requires ${optionOf(secret)}`);
      secrets[secret] = value;
    }
    if (isServer && given.apiKey) secrets.apiKey = given.apiKey;
    if (headers) secrets.headers = headers;
    const isModel = !['flow', 'kapso', 'resend'].includes(provider);
    if (isServer && !apiUrl && !before?.config[isMcp ? 'url' : 'baseUrl'])
      throw usageFailure(isModelServer(provider) ? unknownProvider(provider) : `${provider} requires --api-url`);
    const config: JsonObject = {
      ...(provider === 'flow' && { apiUrl: flowUrl }),
      ...before?.config,
      ...(apiUrl !== undefined && { [isMcp ? 'url' : isModel ? 'baseUrl' : 'apiUrl']: apiUrl }),
      ...(returnUrl !== undefined && { returnUrl }),
      ...(currency.data !== undefined && { defaultCurrency: currency.data }),
      ...(options.from !== undefined && { from: options.from }),
      ...(options.mediaReply !== undefined && { mediaReply: options.mediaReply }),
    };
    await saveIntegration(db, box, scope, { provider, config, secrets });
    if (provider === 'flow') await ensurePaymentType(db, scope);
    return scope.name;
  });
  if (options.json) return printJson({ provider, configured: true });
  print(`Configured ${provider} in ${name}. Test it with: parley integrations test ${provider}`);
}

const optionOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function parseHeaders(written: string[]): Record<string, string> {
  return Object.fromEntries(
    written.map((text) => {
      const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(text) ?? [];
      if (!name || !value) throw usageFailure(`--header must be "Name: value", not "${text}"`);
      return [name, value];
    }),
  );
}
