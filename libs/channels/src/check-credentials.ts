import { type JsonObject, objectAt, ownValue, textAt } from '@parley/contracts';
import { type AddressGuard, callHttp } from '@parley/outbound';

interface Probe {
  url: string;
  path: string;
  headers: (apiKey: string) => Record<string, string>;
  /** Without a key the request has no headers. */
  isKeyOptional?: true;
}

/** For each provider, a request that requires the key and changes nothing. */
const probes: Readonly<Record<string, Probe>> = {
  kapso: {
    url: 'https://api.kapso.ai',
    path: '/platform/v1/customers',
    headers: (key) => ({ 'X-API-Key': key }),
  },
  resend: { url: 'https://api.resend.com', path: '/domains', headers: bearer },
  openai: { url: 'https://api.openai.com/v1', path: '/models', headers: bearer },
  anthropic: {
    url: 'https://api.anthropic.com',
    path: '/v1/models',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  google: {
    url: 'https://generativelanguage.googleapis.com',
    path: '/v1beta/models',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
  ollama: {
    url: 'http://127.0.0.1:11434',
    path: '/api/tags',
    headers: bearer,
    isKeyOptional: true,
  },
};

/** Any other provider is a server with OpenAI's protocol, whose address is in the integration. */
const modelServer: Probe = { url: '', path: '/models', headers: bearer, isKeyOptional: true };

function bearer(key: string): Record<string, string> {
  return { Authorization: `Bearer ${key}` };
}

/**
 * Checks whether a provider accepts the key of an integration. `message` continues a sentence
 * about the provider.
 */
export async function checkCredentials(
  provider: string,
  { config, secrets }: { config: JsonObject; secrets: JsonObject | null },
  /** For the calls to addresses that users give. */
  options: { guard?: AddressGuard; signal?: AbortSignal } = {},
): Promise<{ ok: boolean; message: string }> {
  const probe = ownValue(probes, provider) ?? modelServer;
  const apiKey = textAt(secrets?.apiKey);
  if (apiKey === undefined && !probe.isKeyOptional) return { ok: false, message: 'has no key' };
  const base = (textAt(config.apiUrl) ?? textAt(config.baseUrl) ?? probe.url).replace(/\/+$/, '');
  const url = base + probe.path;
  const answer = await callHttp({
    method: 'GET',
    url,
    headers: apiKey === undefined ? {} : probe.headers(apiKey),
    timeoutMs: 10_000,
    ...options,
  });
  if (answer.kind !== 'answered') return { ok: false, message: `${base}: ${answer.message}` };
  if (answer.status < 300 && answer.body === null)
    return { ok: false, message: `answered a text that is not JSON at ${url}` };
  if (answer.status < 300)
    return {
      ok: true,
      message: apiKey === undefined ? 'answers without a key' : 'accepts the key',
    };
  // A key that may only send e-mails is valid, although Resend refuses this request.
  if (provider === 'resend' && JSON.stringify(answer.body).includes('restricted_api_key'))
    return { ok: true, message: 'accepts the key, which may only send' };
  if (answer.status < 400)
    return { ok: false, message: `${url}: ${textAt(objectAt(answer.body).message)}` };
  const isRefused = answer.status === 401 || answer.status === 403;
  return {
    ok: false,
    message: isRefused ? 'refuses the key' : `answered ${answer.status} at ${url}`,
  };
}
