import {
  type FlowServer,
  type KapsoServer,
  startFlowServer,
  startKapsoServer,
  startResendServer,
  until,
} from '@parley/testing';
import { createClient, push } from '../client';
import { unique } from '../deliveries';
import { type ConsoleKit, useConsole } from './console-kit';
import { hostileTexts, naughtyStrings } from './hostile-texts';
import { connectNumber, newNumberId, textTo } from './whatsapp-number';

/** A screen of the console, with its address below that of an environment. */
export interface Screen {
  /** Its name in screenshots. */
  name: string;
  path: string;
  /** The server refuses it to members. */
  isForAdmins?: true;
  /** It shows one item, so it cannot be empty. */
  isDetail?: true;
}

const flowKeys = { apiKey: 'KEY-1', secretKey: 'secret-1' };
const customer = '14155550134';

/**
 * A console whose organization has something on every screen. What people, contacts, models, tools
 * and providers wrote are texts that break pages that do not escape them.
 */
export function useFullOrganization(): { app: ConsoleKit; screens: () => Screen[] } {
  let flow: FlowServer;
  let kapso: KapsoServer;
  let resend: Awaited<ReturnType<typeof startResendServer>>;
  let screens: Screen[] = [];
  const app = useConsole();
  beforeAll(async () => {
    [flow, kapso, resend] = await Promise.all([
      startFlowServer(flowKeys),
      startKapsoServer(),
      startResendServer(),
    ]);
    const settings = {
      flow: { apiUrl: flow.url, ...flowKeys },
      kapso: { apiUrl: kapso.url, apiKey: kapso.apiKey },
      resend: { apiUrl: resend.url, apiKey: resend.apiKey, from: 'Shop <shop@example.com>' },
    };
    for (const [provider, one] of Object.entries(settings))
      await ok(app.owner.post('/v1/integrations', { provider, settings: one }));
    await fill(app);
    screens = await findScreens(app);
  }, 90_000);
  afterAll(() => Promise.all([flow?.stop(), kapso?.stop(), resend?.stop()]));
  return { app, screens: () => screens };
}

async function ok(
  answer: Promise<{ status: number; body: unknown }>,
): Promise<Record<string, unknown>> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body as Record<string, unknown>;
}

const all = hostileTexts.join('\n');
const naughty = naughtyStrings.join('\n');
const [image, script] = hostileTexts;

async function fill({ owner, tenant, model, stack }: ConsoleKit): Promise<void> {
  await push(owner, {
    entityTypes: [
      {
        slug: 'product',
        name: script,
        schema: { name: 'string', price: 'number', tags: 'array' },
        searchFields: ['name'],
      },
      { slug: 'customer', name: 'Customer', schema: { name: 'string', phone: 'string' } },
    ],
    roles: [
      {
        slug: 'clerk',
        name: image,
        description: all.slice(0, 2_000),
        policies: [{ resource: 'product', actions: ['read', 'list'], effect: 'allow' }],
      },
    ],
    tools: [
      {
        name: 'shipping.quote',
        description: all.slice(0, 1_000),
        parameters: { type: 'object', properties: { to: { type: 'string', description: script } } },
        handlerCode: `return ${JSON.stringify({ text: all, naughty })};`,
      },
    ],
    agents: [
      {
        slug: 'shop',
        name: image,
        description: script,
        systemPrompt: `You sell tents.\n${all.replaceAll('{{', '{ {')}`,
        model: 'openai/gpt-5-mini',
        tools: ['entity.query', 'shipping.quote'],
        roles: ['clerk'],
        threadContextParams: [
          { name: 'plan', type: 'string', description: image },
          { name: 'constructor', type: 'string' },
        ],
        firstMessageSuggestions: [script],
      },
    ],
    routers: [
      {
        slug: 'front',
        name: script,
        mode: 'rules',
        agents: ['shop'],
        rules: [
          { conditions: [{ field: 'customer.name', operator: 'eq', value: image }], route: 'shop' },
        ],
        fallback: 'shop',
      },
    ],
    triggers: [
      {
        slug: 'ship',
        name: image,
        on: { entityType: 'product', action: 'created' },
        actions: [{ tool: 'entity.get', args: { id: 'ent_{{trigger.data.name}}' } }],
        retry: { maxAttempts: 1, backoffMs: 1_000 },
      },
    ],
  });
  const number = newNumberId();
  await connectNumber(tenant, number);
  await ok(owner.post('/v1/data/customer', { data: { name: image, phone: customer } }));
  const operations = [...naughtyStrings, ...hostileTexts].map((name) => ({
    action: 'create',
    data: { name, price: 5, tags: [name.slice(0, 99)] },
  }));
  await ok(owner.post('/v1/data/product/bulk', { operations: operations.slice(0, 500) }));
  // Names that every object inherits, as fields of one entity only. JSON, because a literal would
  // set the prototype.
  const inherited = JSON.parse(
    '{"name":"inherited","constructor":"a","toString":5,"__proto__":{"b":1},"valueOf":null}',
  ) as object;
  await ok(owner.post('/v1/data/product', { data: inherited, status: 'constructor' }));
  model.play(({ messages }) =>
    messages.at(-1)!.role === 'tool'
      ? { text: all }
      : { toolCalls: [{ id: `call_${unique()}`, name: 'shipping_quote', args: { to: all } }] },
  );
  const { path, body, headers } = textTo(number, customer, all.slice(0, 4_000));
  await ok(createClient(stack.url).send('POST', path, body, headers()));
  await ok(
    owner.post('/v1/agents/shop/chat', {
      message: `${all}\n${naughty}`,
      externalThreadId: `web:${image}`,
      threadContext: { params: { plan: script } },
    }),
  );
  const run = (toolName: string, args: object) =>
    ok(owner.post('/v1/run-tool', { toolName, args }));
  await run('payment.create', {
    amount: 24_990,
    currency: 'CLP',
    description: script,
    customerEmail: 'ana@example.com',
  });
  await run('email.send', { to: 'ana@example.com', subject: image, text: all });
  await ok(owner.post('/v1/api-keys', { name: image, permissions: ['chat'] }));
  await ok(owner.post('/v1/tool-secrets', { name: 'CARRIER_KEY', value: 'a secret' }));
}

/** Waits until every list has its item, and returns the addresses of all screens. */
async function findScreens({ owner }: ConsoleKit): Promise<Screen[]> {
  const first = (path: string): Promise<string> =>
    until(async () => ((await owner.get(path)).body as { data: { id: string }[] }).data[0]?.id, {
      limitMs: 30_000,
    });
  const [thread, execution, run, delivery, payment, email] = await Promise.all([
    first('/v1/threads?channel=whatsapp'),
    first('/v1/executions?status=succeeded'),
    first('/v1/trigger-runs?status=dead'),
    first('/v1/webhook-deliveries'),
    first('/v1/payments'),
    first('/v1/emails'),
  ]);
  const lists =
    'conversations playground executions data triggers webhooks payments emails agents routers roles tools members channels settings account';
  const forAdmins = 'keys integrations tool-secrets audit-log';
  const details = {
    conversation: `/conversations/${thread}`,
    execution: `/executions/${execution}`,
    'execution-raw': `/executions/${execution}?tab=raw`,
    entities: '/data/product',
    'entity-new': '/data/product?entity=new',
    trigger: '/triggers/ship',
    'trigger-run': `/trigger-runs/${run}`,
    webhook: `/webhooks/${delivery}`,
    payment: `/payments/${payment}`,
    credits: '/payments?view=credits',
    email: `/emails/${email}`,
    agent: '/agents/shop',
  };
  return [
    { name: 'home', path: '' },
    ...lists.split(' ').map((name) => ({ name, path: `/${name}` })),
    ...forAdmins.split(' ').map((name) => ({ name, path: `/${name}`, isForAdmins: true as const })),
    ...Object.entries(details).map(([name, path]) => ({ name, path, isDetail: true as const })),
  ];
}
