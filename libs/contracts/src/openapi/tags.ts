import type { Operation } from '../operations/operation';

export const tags: { name: Operation['tag']; description: string }[] = [
  { name: 'Chat', description: 'Messages to agents and routers; each is answered with one JSON document.' },
  { name: 'Data', description: 'Entities and their types: 60 requests a minute per key, 200 per organization.' },
  { name: 'Utilities', description: 'Prompts, tools and triggers, tried out with the powers of the system.' },
  { name: 'Sync', description: 'Definitions as code (`parley push`, `pull`, `diff`, `deploy`).' },
  { name: 'Webhooks', description: 'Where providers report; each is verified in its own way.' },
  { name: 'Tool executor', description: 'The sandbox for your own tools.' },
  { name: 'Service', description: 'The service itself.' },
];
