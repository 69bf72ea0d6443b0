import type { Operation } from '../operations/operation';

export const tags: { name: Operation['tag']; description: string }[] = [
  {
    name: 'Chat',
    description: 'Send messages to agents and routers. Each reply is one JSON document.',
  },
  {
    name: 'Data',
    description: 'Store, query and search entities. The number of requests per minute is limited.',
  },
  {
    name: 'Utilities',
    description:
      'Compile prompts, run tools and fire triggers, with the permissions of the system.',
  },
  {
    name: 'Sync',
    description:
      'Push and pull definitions, and set the secrets of tools, as the command line does.',
  },
  {
    name: 'Conversations',
    description: 'Read conversations, take them over and answer them. Requires `manage`.',
  },
  {
    name: 'Executions',
    description: 'Read what agents did and which definitions they use. Requires `manage`.',
  },
  {
    name: 'Operations',
    description: 'Read and repeat webhooks, trigger runs, payments and events. Requires `manage`.',
  },
  {
    name: 'Settings',
    description: 'Keys, integrations, channels and the audit log. Requires `manage`.',
  },
  { name: 'People', description: 'Sign in, and manage the people of an organization.' },
  { name: 'Widget', description: 'Visitors of a website, with a publishable key.' },
  {
    name: 'Webhooks',
    description: 'Receive the deliveries of providers. Each provider has its own authentication.',
  },
  {
    name: 'Tool executor',
    description: 'Run and validate the handlers of custom tools in a sandbox.',
  },
  { name: 'Service', description: 'Health and API description of the gateway.' },
];
