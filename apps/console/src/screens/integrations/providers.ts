import type { ResultOf } from '@parley/client/manage';
import { ownValue } from '@parley/rows';

export type Integration = ResultOf<'listIntegrations'>['data'][number];
type IntegrationField = Integration['fields'][number];
export type Kind = Integration['kind'];

/** What is the same in all languages. */
interface Provider {
  name: string;
  /** Where the provider shows the secrets. */
  page?: string;
  /** The variable of the services with the account that all organizations use. */
  variable?: string;
  /** `npm start` simulates it in development. */
  isSimulated?: true;
}

const providers: Readonly<Record<string, Provider>> = {
  flow: { name: 'Flow', page: 'https://www.flow.cl/app/web/misDatos.php', isSimulated: true },
  kapso: {
    name: 'Kapso (WhatsApp)',
    page: 'https://app.kapso.ai',
    variable: 'KAPSO_API_KEY',
    isSimulated: true,
  },
  resend: {
    name: 'Resend',
    page: 'https://resend.com/api-keys',
    variable: 'RESEND_API_KEY',
    isSimulated: true,
  },
  openai: {
    name: 'OpenAI',
    page: 'https://platform.openai.com/api-keys',
    variable: 'OPENAI_API_KEY',
  },
  anthropic: {
    name: 'Anthropic',
    page: 'https://console.anthropic.com/settings/keys',
    variable: 'ANTHROPIC_API_KEY',
  },
  google: {
    name: 'Google Gemini',
    page: 'https://aistudio.google.com/apikey',
    variable: 'GOOGLE_API_KEY',
  },
  ollama: { name: 'Ollama', variable: 'OLLAMA_BASE_URL' },
};

/** A provider of the list, or a server with a name of its own. */
export const providerOf = (provider: string): Provider =>
  ownValue(providers, provider) ?? { name: provider };

const field = (name: string, isRequired: boolean, isSecret: boolean): IntegrationField => ({
  name,
  isRequired,
  isSecret,
  description: '',
  value: null,
});

/** Servers that an environment gives a name: how their providers begin, and what they need. */
export const servers = {
  mcp: {
    prefix: 'mcp.',
    fields: [
      field('url', true, false),
      field('apiKey', false, true),
      field('headers', false, true),
    ],
  },
  models: { prefix: '', fields: [field('baseUrl', true, false), field('apiKey', false, true)] },
} satisfies Partial<Record<Kind, { prefix: string; fields: IntegrationField[] }>>;
export type ServerKind = keyof typeof servers;
