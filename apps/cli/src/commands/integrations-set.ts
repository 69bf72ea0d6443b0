import { text } from 'node:stream/consumers';
import type { JsonObject } from '@parley/contracts';
import { findIntegration, saveIntegration } from '@parley/db';
import { currencySchema, ensurePaymentType } from '@parley/payments';
import { usageFailure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { openSecretBox } from '../secrets';
import { print, printJson } from '../terminal';
import { integrationSecrets, isMcpServer, providers } from '../webhooks/names';

export interface IntegrationsSetOptions extends ScopeOptions {
  apiKey?: string;
  secretKey?: string;
  apiUrl?: string;
  header?: string[];
  returnUrl?: string;
  currency?: string;
  from?: string;
  mediaReply?: string;
  json?: boolean;
}

const flowUrl = 'https://www.flow.cl/api';

/** Which providers take an option that not all of them have. */
const takers: Readonly<Record<string, (provider: string) => boolean>> = {
  secretKey: (provider) => provider === 'flow',
  returnUrl: (provider) => provider === 'flow',
  currency: (provider) => provider === 'flow',
  from: (provider) => provider === 'resend',
  mediaReply: (provider) => provider === 'kapso',
  header: isMcpServer,
};
/** `hello@acme.example` or `Acme <hello@acme.example>`, as e-mails are sent from. */
const senderPattern = /^([^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

/** `parley integrations set`: what is not given stays as it is. */
export async function runIntegrationsSet(provider: string, options: IntegrationsSetOptions): Promise<void> {
  const isMcp = isMcpServer(provider);
  const wanted = isMcp ? [] : integrationSecrets[provider];
  if (wanted === undefined) throw usageFailure(`Which provider? ${providers.join(', ')}`);
  for (const [name, takes] of Object.entries(takers))
    if (name in options && !takes(provider)) throw usageFailure(`${provider} takes no ${optionOf(name)}`);
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
    for (const secret of wanted) {
      const value = given[secret as keyof typeof given] ?? secrets[secret];
      if (!value) throw usageFailure(`${provider} wants ${optionOf(secret)}`);
      secrets[secret] = value;
    }
    if (isMcp && given.apiKey) secrets.apiKey = given.apiKey;
    if (headers) secrets.headers = headers;
    if (isMcp && !apiUrl && !before?.config.url) throw usageFailure(`${provider} wants --api-url`);
    const isModel = !['flow', 'kapso', 'resend'].includes(provider);
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
  print(`${provider} is configured in ${name}. Try it: parley integrations test ${provider}`);
}

const optionOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function parseHeaders(written: string[]): Record<string, string> {
  return Object.fromEntries(
    written.map((text) => {
      const [, name, value] = /^([\w-]+):\s*(.+)$/.exec(text) ?? [];
      if (!name || !value) throw usageFailure(`--header wants "Name: value", not "${text}"`);
      return [name, value];
    }),
  );
}

/** Keys on a command line stay in the shell's history, so they may be piped in. */
async function secretOf(value: string | undefined): Promise<string | undefined> {
  return value === '-' ? (await text(process.stdin)).trim() : value;
}
