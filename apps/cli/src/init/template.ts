import { packageFiles } from './copy-packages';

/** Where `npm start` serves. */
export const defaultUrl = 'http://localhost:4000';

/** The content of `.env`. */
export const settingsFile = (url: string, key: string): string => `PARLEY_URL=${url}
# A key of development: parley keys create --env development --permissions '*,manage' --name dev
PARLEY_API_KEY=${key}
# Used by parley deploy: parley keys create --env production --permissions sync --name deploy
PARLEY_PRODUCTION_API_KEY=
`;

/**
 * The files of a new project, by path: a shop whose assistant finds products, creates orders and
 * computes discounts.
 */
export const template = (name: string, version: string): Record<string, string> => ({
  'package.json': `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: {
        dev: 'parley dev',
        diff: 'parley diff',
        deploy: 'parley deploy',
        types: 'parley types generate --from . && tsc --noEmit',
      },
      devDependencies: {
        ...Object.fromEntries(
          Object.entries(packageFiles(version)).map(([own, file]) => [own, `file:${file}`]),
        ),
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
  'prompts.d.ts': `/** Importing a Markdown file returns its text. */
declare module '*.md' {
  const text: string;
  export default text;
}
`,
  // npx then refuses when the packages are not installed, instead of installing a package of this
  // name from the registry.
  '.npmrc': 'yes=false\n',
  // Prompts and definitions have the same lines in every checkout.
  '.gitattributes': '* text=auto eol=lf\n',
  '.gitignore': 'node_modules/\n.env\n*.parley-import\n*.parley-export\n',
  '.env.example': `# Copy to .env, which is not committed.\n${settingsFile(defaultUrl, '')}`,
  'README.md': `# ${name}

Agents, entity types, roles, triggers, routers and tools of Parley, as code.

\`\`\`sh
npx parley dev             # push to development whenever a file changes
npx parley chat assistant  # talk to the agent
npx parley diff            # show what a push would change
npx parley deploy          # push to production, after a confirmation
\`\`\`

\`.env\` holds the address and the keys, and is not committed. In a new clone: \`cp .env.example .env\`, enter them, and run
\`npm install\`.

The packages of Parley are installed from files in \`packages/\`, because they are not in a registry. Copy the files there, or
create them in a checkout of Parley:

\`\`\`sh
node tools/pack.mjs --out <this folder>/packages cli definitions
\`\`\`

To install another version, replace the files in \`packages/\` and run \`npm install --save-dev ./packages/*.tgz\`.

| folder | content |
|---|---|
| \`agents/\` | agents: prompt, model, tools |
| \`entity-types/\` | types of records and their fields |
| \`roles/\` | what agents and keys may read and do |
| \`tools/\` | functions that agents can call; handlers run in a sandbox |
| \`routers/\` | which agent answers a message |
| \`triggers/\` | tools that run when a record changes, or on a schedule |
| \`prompts/\` | texts that agents import |
| \`parley.d.ts\` | types of the entity types and tools for handlers; \`parley dev\` and \`parley types generate --from .\` write it |
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

Find products with entity.query (type "product") before you mention them, and never invent one. To place an order for a
customer, create it (type "order") with entity.create; shop.discount returns the discount.
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
    // Runs in a sandbox, with the variables and imports of this file that it uses.
    handler({ total }) {
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

/** Sets the state of every new order to "new". */
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
