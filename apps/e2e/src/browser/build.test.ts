import { push } from '../client';
import { inBrowser, useConsole } from './console-kit';

/** The screens about what is deployed: agents, routers, roles and tools. */
const app = useConsole();

const definitions = {
  entityTypes: [
    { slug: 'order', name: 'Order', schema: { number: 'string', total: 'number' } },
    { slug: 'customer', name: 'Customer', schema: { email: 'string' } },
  ],
  roles: [
    {
      slug: 'clerk',
      name: 'Clerk',
      policies: [
        { resource: 'order', actions: ['list', 'read', 'update'], effect: 'allow' },
        { resource: 'order', actions: ['delete'], effect: 'deny' },
        { resource: 'customer', actions: ['read'], effect: 'allow' },
        { resource: 'orders.*', actions: ['execute'], effect: 'allow' },
      ],
      scopeRules: [
        { entityType: 'order', field: 'data.total', operator: 'lt', value: 100, anyOf: 'small' },
        { entityType: 'order', field: 'data.number', operator: 'eq', value: 'C-1', anyOf: 'small' },
      ],
      fieldMasks: [{ entityType: 'customer', fieldPath: 'email', maskType: 'redact' }],
    },
  ],
  tools: [
    {
      name: 'orders.double',
      description: 'Doubles an amount.',
      parameters: {
        type: 'object',
        properties: { amount: { type: 'integer', description: 'An amount.' } },
        required: ['amount'],
      },
      handlerCode: `console.log('doubling');
if (args.amount < 0) throw new Error('The amount is negative');
return { doubled: args.amount * 2 };`,
      allowedHosts: ['api.example.com'],
      secrets: ['BANK_KEY'],
      runAs: 'clerk',
    },
  ],
  agents: [
    {
      slug: 'clerk',
      name: 'Order clerk',
      description: 'Changes orders.',
      systemPrompt:
        'Today is {{today}}. Orders: {{entity.query({"type": "order", "filters": {"data.number": "}}"}})}}!',
      model: { model: 'openai/gpt-5-mini', temperature: 0.5 },
      tools: ['entity.query', 'entity.update', 'entity.delete', 'orders.double', 'event.emit'],
      roles: ['clerk'],
      threadContextParams: [
        { name: 'plan', type: 'string', required: true, description: 'Plan of the customer.' },
      ],
      firstMessageSuggestions: ['Where is my order?'],
    },
    { slug: 'helper', name: 'Helper', systemPrompt: 'Help.', tools: [] },
  ],
  routers: [
    {
      slug: 'front',
      name: 'Front desk',
      mode: 'rules',
      agents: ['clerk', 'helper'],
      rules: [
        {
          conditions: [
            { field: 'customer.email', operator: 'exists', value: true },
            { field: 'customer.tier', operator: 'in', value: ['gold', 'silver'] },
          ],
          route: 'clerk',
        },
      ],
      fallback: 'helper',
    },
  ],
};
beforeAll(() => push(app.owner, definitions));

inBrowser(
  'an agent shows its definition, and leads to its conversations, executions and the playground',
  async () => {
    await app.owner.post('/v1/agents/helper/chat', {
      message: 'hello helper',
      externalThreadId: 'web:helper',
    });
    const page = await app.open('/agents');
    await page.getByText('npx parley push').waitFor();
    await page.getByRole('link', { name: /Order clerk/ }).waitFor();
    // The list is read with the keyboard.
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'What can it do and see?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /Order clerk/ }).click();
    const prompt = page
      .getByRole('region', { name: 'Prompt' })
      .getByRole('region', { name: 'Prompt' });
    await prompt.locator('mark').first().waitFor();
    expect(await prompt.locator('mark').allInnerTexts()).toEqual([
      '{{today}}',
      '{{entity.query({"type": "order", "filters": {"data.number": "}}"}})}}',
    ]);
    await page.getByText('Plan of the customer.').waitFor();
    await page.getByText('Where is my order?').waitFor();
    await page.getByRole('link', { name: 'front' }).waitFor();
    await page.goto(`${app.base()}/agents/helper`);
    await page.getByText('It has no tools').waitFor();
    await page.getByRole('link', { name: 'Conversations' }).last().click();
    await page.getByRole('link', { name: /web:helper/ }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Agent' }).inputValue()).toBe('helper');
    await page.goto(`${app.base()}/agents/helper`);
    await page.getByRole('link', { name: 'Open in playground' }).click();
    await page.getByRole('heading', { name: 'Write to Helper' }).waitFor();
    await page.goto(`${app.base()}/agents/unknown`);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    expect(app.complaints.filter((text) => !text.startsWith('404'))).toEqual([]);
  },
);

inBrowser('what an agent can do and see names the role and the policy that decide', async () => {
  const page = await app.open('/agents/clerk?tab=rights');
  const row = (name: string) =>
    page.getByRole('row', { name: new RegExp(`^${name.replace('.', '\\.')} `) });
  const cells = (name: string) => row(name).getByRole('cell').allInnerTexts();
  await row('order').waitFor();
  await page.getByText('Sees “[redacted]” in place of email').waitFor();
  // In the order of the columns: list, read, create, update, delete, limits.
  expect((await cells('order')).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
    'allowed clerk, policy 0',
    'in code only',
    'denied no policy allows it',
    'allowed clerk, policy 0',
    'denied clerk, policy 1',
    'Only where data.total is less than 100 or data.number is C-1',
  ]);
  expect((await cells('customer'))[0]).toContain('denied');
  expect((await cells('entity.query'))[1]).toContain('by entity type');
  expect((await cells('orders.double'))[1]).toContain('allowed');
  expect((await cells('event.emit'))[2]).toBe('no policy of the role "clerk" allows it');
  await row('order').getByRole('link', { name: 'clerk, policy 1' }).click();
  await page.getByText('May never delete order').waitFor();
  expect(app.complaints).toEqual([]);
});

inBrowser(
  'roles and routers are read as sentences, and lead to the agents that they concern',
  async () => {
    await app.owner.post('/v1/api-keys', {
      name: 'Till of the north',
      permissions: ['data'],
      role: 'clerk',
    });
    const page = await app.open('/roles');
    await page.getByRole('link', { name: /Clerk/ }).click();
    await page.getByText('May list, read, and update order').waitFor();
    await page.getByText('May run orders.*').waitFor();
    await page.getByText('Only where data.total is less than 100 or data.number is C-1').waitFor();
    await page.getByText('Till of the north').waitFor();
    await page.getByRole('link', { name: 'orders.double' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'clerk', exact: true }).click();
    await page.waitForURL('**/agents/clerk?tab=rights');
    await page.goBack();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.searchParams.has('open'));
    await page.goto(`${app.base()}/routers?open=front`);
    await page
      .getByText('When customer.email has a value: true and customer.tier is one of gold, silver')
      .waitFor();
    await page.getByRole('link', { name: 'Open in playground' }).click();
    await page.getByRole('heading', { name: 'Write to Front desk' }).waitFor();
    for (const path of ['/routers?open=unknown', '/roles?open=unknown', '/tools?open=unknown']) {
      await page.goto(app.base() + path);
      await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    }
    // A member does not ask for the keys of the role, which the server would refuse.
    const asMember = await app.open('/roles?open=clerk', {
      as: await app.join('member', 'Luis Soto'),
    });
    await asMember.getByText('May run orders.*').waitFor();
    expect(await asMember.getByText('API keys').count()).toBe(0);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a tool is read with its code and run as the system and as agents, with its console and its errors',
  async () => {
    const page = await app.open('/tools');
    await page.getByRole('link', { name: /entity\.query/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('doubles');
    await page.waitForURL('**/tools?q=doubles');
    await page.getByRole('link', { name: /orders\.double/ }).click();
    await page.getByText('return { doubled: args.amount * 2 };').waitFor();
    for (const text of ['api.example.com', 'BANK_KEY', 'An amount.'])
      await page.getByText(text, { exact: true }).waitFor();
    await page.getByRole('link', { name: 'clerk' }).first().waitFor();
    const args = page.getByRole('textbox', { name: 'Arguments as JSON' });
    const run = page.getByRole('button', { name: 'Run tool' });
    expect(JSON.parse(await args.inputValue())).toEqual({ amount: 0 });
    await args.fill('{"amount": 21');
    await page.getByText('This is not JSON').waitFor();
    expect(await run.isDisabled()).toBe(true);
    await args.fill('[21]');
    await page.getByText('The arguments are a JSON object.').waitFor();
    await args.fill('{"amount": 21}');
    await args.press('Control+Enter');
    await page.getByText('BANK_KEY is not set in development').waitFor();
    expect(app.complaints.splice(0)).toEqual(['500 /v1/run-tool']);
    await app.owner.post('/v1/tool-secrets', { name: 'BANK_KEY', value: 'a secret' });
    await args.press('Control+Enter');
    await page.getByText('"doubled": 42').waitFor();
    await page.getByText('log: doubling').waitFor();
    await page.getByText('as the system').first().waitFor();
    expect(app.complaints).toEqual([]);
    const alert = page.getByRole('alert');
    await args.fill('{"amount": -1}');
    await run.click();
    await alert.getByText('The amount is negative').waitFor();
    await args.fill('{"amount": "x"}');
    await run.click();
    await alert.getByText('invalid_arguments').waitFor();
    // An agent that does not have the tool is refused, with the reason.
    await page.getByRole('combobox', { name: 'As' }).selectOption('helper');
    await args.fill('{"amount": 1}');
    await run.click();
    await alert.getByText('is not in the tools of the agent "helper"').first().waitFor();
    await page.getByRole('combobox', { name: 'As' }).selectOption('clerk');
    await run.click();
    await page.getByText('as Order clerk').waitFor();
  },
);

inBrowser('in production a tool with effects asks first, and members run none', async () => {
  const production = await app.tenant.client({
    permissions: ['*', 'manage'],
    environment: 'production',
  });
  await push(production, definitions);
  const page = await app.open('/tools?open=event.emit', { environment: 'production' });
  await page
    .getByRole('textbox', { name: 'Arguments as JSON' })
    .fill('{"type": "shop.opened", "payload": {}}');
  await page.getByRole('button', { name: 'Run tool' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('event.emit may change data or reach people in production.').waitFor();
  const emitted = async () =>
    ((await production.get('/v1/events?type=shop.opened')).body as { data: unknown[] }).data.length;
  expect(await emitted()).toBe(0);
  await dialog.getByLabel('Type event.emit to confirm').fill('event.emit');
  await dialog.getByRole('button', { name: 'Run tool' }).click();
  await page.getByRole('region', { name: 'Result' }).waitFor();
  expect(await emitted()).toBe(1);
  const member = await app.join('member', 'Eva Luna');
  const asMember = await app.open('/tools?open=event.emit', {
    as: member,
    environment: 'production',
  });
  await asMember.getByText('Only an admin may run tools in production.').waitFor();
  expect(await asMember.getByRole('button', { name: 'Run tool' }).count()).toBe(0);
  const refused = await fetch(`${app.stack.url}/v1/run-tool`, {
    method: 'POST',
    headers: {
      ...member.headers,
      'Parley-Environment': 'production',
      'Content-Type': 'application/json',
    },
    body: '{"toolName":"event.query","args":{}}',
  });
  expect(refused.status).toBe(403);
  expect(app.complaints).toEqual([]);
});

inBrowser('an environment without definitions says how to make them', async () => {
  const owner = await app.tenant.client({
    permissions: ['*', 'manage'],
    environment: 'production',
  });
  await owner.post('/v1/sync', {
    prune: true,
    resources: { agents: [], routers: [], roles: [], tools: [], triggers: [], entityTypes: [] },
  });
  const page = await app.open('/agents', { environment: 'production' });
  await page.getByText('npx parley init my-agents').waitFor();
  for (const [path, title] of [
    ['/routers', 'No routers yet'],
    ['/roles', 'No roles yet'],
    ['/tools?kind=custom', 'No custom tools yet'],
    ['/playground', 'No agents yet'],
  ] as const) {
    await page.goto(app.base('production') + path);
    await page.getByRole('heading', { name: title }).waitFor();
    await page.getByText('npx parley push').first().waitFor();
  }
  expect(app.complaints).toEqual([]);
});
