import { packageFiles } from './own-packages';

/**
 * A project that runs as it is: a shop whose assistant looks products up, takes orders and works out discounts. Paths
 * are below its folder.
 */
export const template = (name: string, version: string): Record<string, string> => ({
  'package.json': `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: { dev: 'parley dev', diff: 'parley diff', deploy: 'parley deploy', types: 'tsc --noEmit' },
      devDependencies: {
        ...Object.fromEntries(Object.entries(packageFiles(version)).map(([own, file]) => [own, `file:${file}`])),
        typescript: '^5.9.3',
      },
    },
    null,
    2,
  )}\n`,
  'tsconfig.json': `${JSON.stringify(
    {
      compilerOptions: {
        target: 'es2023',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2023', 'dom'],
        types: [],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
      },
      include: ['**/*.ts'],
    },
    null,
    2,
  )}\n`,
  'prompts.d.ts': `/** Markdown files are imported as their text. */
declare module '*.md' {
  const text: string;
  export default text;
}
`,
  '.gitignore': 'node_modules/\n.env\n*.parley-import\n*.parley-export\n',
  '.env.example': `# Copy to .env, which is not committed. Keys: parley keys create --env … --permissions '*' --name …
PARLEY_URL=http://localhost:4000
PARLEY_API_KEY=
# For parley deploy:
PARLEY_PRODUCTION_API_KEY=
`,
  'README.md': `# ${name}

Agents, entity types, roles, triggers, routers and tools of Parley, as code.

\`\`\`sh
cp .env.example .env       # fill in the address and a key
npm install                # from packages/, see below
npx parley dev             # pushes to development whenever a file changes
npx parley chat assistant  # talk to the agent
npx parley diff            # what a push would change
npx parley deploy          # production, after asking
\`\`\`

Parley's own packages are installed from files in \`packages/\`, as no registry has them. \`parley init\` puts them there when
it was itself installed from them into a folder; else copy them, or make them in a checkout of Parley:

\`\`\`sh
node tools/pack.mjs --out <this folder>/packages cli definitions
\`\`\`

Another version is installed by \`npm install --save-dev ./packages/*.tgz\`, once its files are there in place of the old ones.

| folder | holds |
|---|---|
| \`agents/\` | who answers: prompt, model, tools |
| \`entity-types/\` | the kinds of records and their fields |
| \`roles/\` | who may see and do what |
| \`tools/\` | what agents can call; handlers run in a sandbox |
| \`routers/\` | which agent answers a message |
| \`triggers/\` | what runs when a record changes, or at a time |
| \`prompts/\` | texts that agents import |
`,
  'agents/assistant.ts': `import { defineAgent } from '@parley/definitions';
import systemPrompt from '../prompts/assistant.md';

export default defineAgent({
  slug: 'assistant',
  name: 'Assistant',
  systemPrompt,
  tools: ['entity.query', 'entity.get', 'entity.create', 'shop.discount'],
  roles: ['clerk'],
  firstMessageSuggestions: ['Which products do you have?'],
});
`,
  'prompts/assistant.md': `You are the assistant of a small shop. Today is {{weekday}}, {{today}}.

Look products up with entity.query (type "product") before you speak of them, and never invent one. When somebody wants
to buy, make an order (type "order") with entity.create; shop.discount says how much to take off.
`,
  'entity-types/product.ts': `import { defineData } from '@parley/definitions';

export default defineData({
  slug: 'product',
  name: 'Product',
  schema: { name: 'string', price: 'number', inStock: 'boolean' },
  searchFields: ['name'],
});
`,
  'entity-types/order.ts': `import { defineData } from '@parley/definitions';

export default defineData({
  slug: 'order',
  name: 'Order',
  schema: { product: 'string', total: 'number', state: 'string' },
  searchFields: ['product'],
});
`,
  'roles/clerk.ts': `import { defineRole } from '@parley/definitions';

export default defineRole({
  slug: 'clerk',
  name: 'Clerk',
  policies: [
    { resource: 'product', actions: ['read', 'list'], effect: 'allow' },
    { resource: 'order', actions: ['create', 'read', 'list'], effect: 'allow' },
    { resource: 'shop.discount', actions: ['execute'], effect: 'allow' },
  ],
});
`,
  'tools/shop.ts': `import { defineTools } from '@parley/definitions';

export default defineTools([
  {
    name: 'shop.discount',
    description: 'The discount on a total, in percent.',
    parameters: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
    // Stored as its source and run in a sandbox: it can use its parameters and nothing of this file.
    handler({ total }: { total: number }) {
      return { percent: total > 100 ? 10 : 0 };
    },
  },
]);
`,
  'routers/front-desk.ts': `import { defineRouter } from '@parley/definitions';

export default defineRouter({
  slug: 'front-desk',
  name: 'Front desk',
  mode: 'rules',
  agents: ['assistant'],
  fallback: 'assistant',
});
`,
  'triggers/new-order.ts': `import { defineTrigger } from '@parley/definitions';

/** An order begins as "new", whoever made it. */
export default defineTrigger({
  slug: 'new-order',
  name: 'New order',
  on: { entityType: 'order', action: 'created' },
  actions: [
    { tool: 'entity.update', args: { id: '{{trigger.entityId}}', data: { state: 'new' } } },
  ],
});
`,
});
