import { z } from 'zod';
import type { ErrorDetail } from './http/error';
import type { JsonObject } from './json';

/** ISO 4217 code, in upper or lower case. */
export const currencySchema = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{3}$/, {
    error: ({ input }) => `must be a code of three letters such as CLP, not ${String(input)}`,
  })
  .toUpperCase();

const text = (maxChars: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(maxChars, `must have at most ${maxChars} characters`)
    .refine(
      (value) => !/\p{Cc}/u.test(value),
      'must not contain line breaks or other control characters',
    );

/** Sent in a header, so it has no character that a header cannot have. */
const secret = text(4_096).regex(
  /^[\x21-\x7e]*$/,
  'must have ASCII characters only, without spaces',
);

const address = text(2_048).refine((value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  );
}, 'must be an http or https address without a user name and password');

/** `hello@acme.example` or `Acme <hello@acme.example>`. */
const sender = text(320).regex(
  /^([^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
  'must be an address or "Name <address>"',
);

const maxHeaders = 20;
/** Headers that belong to the connection, or that the protocol sets. */
const ownHeaders =
  /^(host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|expect|accept)$/i;
const headers = z
  .record(z.string(), text(4_096).regex(/^[\x20-\x7e]*$/, 'must have ASCII characters only'))
  .refine(
    (given) => Object.keys(given).length <= maxHeaders,
    `must have at most ${maxHeaders} headers`,
  )
  .refine(
    (given) =>
      Object.keys(given).every(
        (name) => /^[\w!#$%&'*+.^`|~-]{1,128}$/.test(name) && !ownHeaders.test(name),
      ),
    'must have names of headers, and none that the protocol sets, such as Host',
  );

/** The fields that integrations have. Secret ones are encrypted and never returned. */
const fields = {
  apiKey: {
    schema: secret,
    isSecret: true,
    description: 'API key of the account at the provider.',
  },
  secretKey: { schema: secret, isSecret: true, description: 'Secret that signs requests.' },
  apiUrl: {
    schema: address,
    isSecret: false,
    description: 'Address of the API, unless it is the default.',
  },
  baseUrl: { schema: address, isSecret: false, description: 'Address of the API of models.' },
  url: { schema: address, isSecret: false, description: 'Address of the MCP server.' },
  headers: {
    schema: headers,
    isSecret: true,
    description: 'Additional headers of each request, at most 20.',
  },
  returnUrl: {
    schema: z.union([z.literal(''), address]),
    isSecret: false,
    description:
      'Address that the browser opens after a payment. Empty: the address of the gateway.',
  },
  defaultCurrency: {
    schema: currencySchema,
    isSecret: false,
    description: 'Currency of payments. Default: CLP.',
  },
  from: { schema: sender, isSecret: false, description: 'Default sender of e-mails.' },
  mediaReply: {
    schema: z.string().max(4_096),
    isSecret: false,
    description: 'Reply to media without text. Empty: none is sent.',
  },
} as const;

export type IntegrationField = keyof typeof fields;
export const integrationFields: Readonly<
  Record<IntegrationField, { isSecret: boolean; description: string }>
> = fields;

/** Settings of an integration. Null removes a field; fields that are absent stay. */
export const integrationSettingsSchema = z.strictObject({
  apiKey: optional('apiKey'),
  secretKey: optional('secretKey'),
  apiUrl: optional('apiUrl'),
  baseUrl: optional('baseUrl'),
  url: optional('url'),
  headers: optional('headers'),
  returnUrl: optional('returnUrl'),
  defaultCurrency: optional('defaultCurrency'),
  from: optional('from'),
  mediaReply: optional('mediaReply'),
});

function optional<F extends IntegrationField>(field: F) {
  const { schema, description } = fields[field];
  return (schema as (typeof fields)[F]['schema']).nullable().optional().describe(description);
}

export const integrationKinds = ['payments', 'messages', 'emails', 'models', 'mcp'] as const;

interface IntegrationProvider {
  kind: (typeof integrationKinds)[number];
  required: readonly IntegrationField[];
  optional: readonly IntegrationField[];
  defaults?: JsonObject;
}

const models: IntegrationProvider = { kind: 'models', required: ['apiKey'], optional: ['baseUrl'] };
const modelServer: IntegrationProvider = {
  kind: 'models',
  required: ['baseUrl'],
  optional: ['apiKey'],
};
const mcpServer: IntegrationProvider = {
  kind: 'mcp',
  required: ['url'],
  optional: ['apiKey', 'headers'],
};

const providers: Readonly<Record<string, IntegrationProvider>> = {
  flow: {
    kind: 'payments',
    required: ['apiKey', 'secretKey', 'apiUrl'],
    optional: ['returnUrl', 'defaultCurrency'],
    defaults: { apiUrl: 'https://www.flow.cl/api' },
  },
  kapso: { kind: 'messages', required: ['apiKey'], optional: ['apiUrl', 'mediaReply'] },
  resend: { kind: 'emails', required: ['apiKey'], optional: ['apiUrl', 'from'] },
  openai: models,
  anthropic: models,
  google: models,
  ollama: modelServer,
};

/**
 * Providers that every environment can configure. MCP servers and servers of models have
 * names of their own.
 */
export const integrationProviders = Object.keys(providers);

/**
 * The provider with this name: one of the list, an MCP server (`mcp.<server>`), or any other name
 * for a server with OpenAI's protocol. Null for names that have another meaning.
 */
export function integrationProvider(name: string): IntegrationProvider | null {
  if (Object.hasOwn(providers, name)) return providers[name]!;
  if (/^mcp\.[a-z0-9][a-z0-9_-]{0,62}$/.test(name)) return mcpServer;
  const isFree = /^[a-z0-9][a-z0-9-]{0,62}$/.test(name) && !reservedNames.includes(name);
  return isFree ? modelServer : null;
}

/** The fields that say where calls with the secrets go. */
const addressFields: readonly IntegrationField[] = ['apiUrl', 'baseUrl', 'url'];

interface StoredSettings {
  config: JsonObject;
  /** Null when they cannot be decrypted: they have to be given again. */
  secrets: JsonObject | null;
}

type GivenSettings = Partial<Record<IntegrationField, string | object | null>>;

type MergedSettings =
  | { ok: true; config: JsonObject; secrets: JsonObject }
  | {
      ok: false;
      code: 'unknown_provider' | 'invalid_settings' | 'secrets_required';
      problems: ErrorDetail[];
    };

/**
 * The settings after a change, checked as a whole. `problems` name the fields and never contain
 * values of secrets.
 */
export function mergeIntegration(
  name: string,
  before: StoredSettings | null,
  given: GivenSettings,
): MergedSettings {
  const provider = integrationProvider(name);
  if (provider === null)
    return {
      ok: false,
      code: 'unknown_provider',
      problems: [{ path: 'provider', message: unknownProvider(name) }],
    };
  const allowed = [...provider.required, ...provider.optional];
  const changes = Object.entries(given) as [IntegrationField, (typeof given)[IntegrationField]][];
  const foreign = changes.filter(
    ([field, value]) => value !== undefined && !allowed.includes(field),
  );
  const merged: JsonObject = { ...provider.defaults, ...before?.config, ...before?.secrets };
  for (const [field, value] of changes) {
    if (value === null && provider.defaults?.[field] !== undefined)
      merged[field] = provider.defaults[field];
    else if (value === null) delete merged[field];
    else if (value !== undefined) merged[field] = value as JsonObject;
  }
  const missing = provider.required.filter((field) => merged[field] === undefined);
  const problems = [
    ...foreign.map(([field]) => ({
      path: `settings.${field}`,
      message: `is not a field of ${name}`,
    })),
    ...missing.map((field) => ({ path: `settings.${field}`, message: 'is required' })),
  ];
  if (problems.length > 0) return { ok: false, code: 'invalid_settings', problems };
  const kept = keptSecrets(
    { ...provider.defaults, ...before?.config },
    merged,
    before?.secrets ?? {},
    given,
  );
  if (kept.length > 0)
    return { ok: false, code: 'secrets_required', problems: kept.map(toGiveAgain) };
  const part = (isSecret: boolean) =>
    Object.fromEntries(
      Object.entries(merged).filter(
        ([field]) => (fields[field as IntegrationField]?.isSecret ?? false) === isSecret,
      ),
    );
  return { ok: true, config: part(false), secrets: part(true) };
}

/**
 * The stored secrets that a change would send to another host, port or protocol. They are not shown
 * to anyone, so who changes the address has to give them again.
 */
function keptSecrets(
  before: JsonObject,
  after: JsonObject,
  secrets: JsonObject,
  given: GivenSettings,
): string[] {
  const isMoved = addressFields.some((field) => originOf(before[field]) !== originOf(after[field]));
  if (!isMoved) return [];
  const isEmpty = (value: unknown) =>
    typeof value === 'object' && Object.keys(value ?? {}).length === 0;
  return Object.keys(secrets).filter(
    (field) => given[field as IntegrationField] === undefined && !isEmpty(secrets[field]),
  );
}

const originOf = (value: unknown): string =>
  typeof value === 'string' && URL.canParse(value) ? new URL(value).origin : '';

const toGiveAgain = (field: string): ErrorDetail => ({
  path: `settings.${field}`,
  message: 'must be given again, because the address has changed',
});

const unknownProvider = (name: string): string =>
  reservedNames.includes(name)
    ? `${name} is reserved, and has no settings here`
    : `${name} is not a provider: use ${integrationProviders.join(', ')}, mcp.<server> with lower-case letters, digits, _ and -, or a name of lower-case letters, digits and - for a server with OpenAI's protocol`;
const reservedNames = ['clerk', 'polar', 'offline'];
