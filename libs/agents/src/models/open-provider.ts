import type { AskProvider, ProviderCall, ProviderModel, ProviderReply } from './provider-call';
import type { ProviderAccess } from './provider-keys';
import { loadAnthropic } from './providers/anthropic';
import { loadGoogle } from './providers/google';
import { loadOllama } from './providers/ollama';
import { loadOpenAi } from './providers/openai';

export type ProviderKind = 'openai' | 'anthropic' | 'google' | 'ollama';

/**
 * Always passed, because the classes otherwise read an address from their own
 * environment variables.
 */
const addresses: Record<ProviderKind, string> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  google: 'https://generativelanguage.googleapis.com',
  ollama: 'http://127.0.0.1:11434',
};

/**
 * The protocol of a provider. An unknown provider is assumed to speak OpenAI's protocol; null if
 * it has no address.
 */
export function providerKind(
  provider: string,
  access: ProviderAccess | undefined,
): ProviderKind | null {
  if (Object.hasOwn(addresses, provider)) return provider as ProviderKind;
  return access?.baseUrl ? 'openai' : null;
}

/**
 * Imported on first use: importing all four takes two seconds, and the import of a loaded
 * module still 0.1 ms.
 */
const loaded = new Map<ProviderKind, Promise<AskProvider>>();

const loaders: Record<ProviderKind, () => Promise<AskProvider>> = {
  openai: loadOpenAi,
  anthropic: loadAnthropic,
  google: loadGoogle,
  ollama: loadOllama,
};

/** Loads the LangChain class of a provider. */
export function loadProvider(kind: ProviderKind): Promise<AskProvider> {
  const known = loaded.get(kind);
  if (known !== undefined) return known;
  const loading = loaders[kind]();
  loaded.set(kind, loading);
  loading.catch(() => loaded.delete(kind));
  return loading;
}

/** Calls a model once, without retries or fallbacks. */
export async function askProvider(
  kind: ProviderKind,
  model: ProviderModel,
  call: ProviderCall,
): Promise<ProviderReply> {
  const ask = await loadProvider(kind);
  const baseUrl = (model.baseUrl ?? addresses[kind]).replace(/\/+$/, '');
  return ask({ ...model, baseUrl, apiKey: model.apiKey ?? 'none' }, call);
}
