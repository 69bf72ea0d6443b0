import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { push } from '../client';
import { inBrowser, useConsole } from './console-kit';
import { pushShop } from './shop';

const app = useConsole();
beforeAll(async () => {
  await pushShop(app.owner);
  await app.owner.post('/v1/data/product', { data: { name: 'Tent', price: 100 } });
  await push(app.owner, {
    agents: [
      {
        slug: 'clerk',
        name: 'Clerk',
        systemPrompt:
          'Plan {{threadContext.params.plan}}. {{missing.value}} Stock: {{entity.query({"type": "product"})}}.',
        model: 'openai/gpt-5-mini',
        tools: ['entity.query'],
        threadContextParams: [
          { name: 'plan', type: 'string', required: true, description: 'Plan of the customer.' },
          { name: 'visits', type: 'number' },
          { name: 'cart', type: 'object' },
        ],
        firstMessageSuggestions: ['Which orders are open?'],
      },
    ],
    routers: [
      { slug: 'front', name: 'Front desk', mode: 'rules', agents: ['shop'], fallback: 'shop' },
    ],
  });
});

const threadOf = (page: Page) => new URL(page.url()).searchParams.get('thread')!;
const messagesOf = async (threadId: string) =>
  (
    (await app.owner.get(`/v1/threads/${threadId}/messages`)).body as {
      data: { role: string; content: string }[];
    }
  ).data.map(({ role, content }) => [role, content]);
const executionsOf = async (threadId: string) =>
  (
    (await app.owner.get(`/v1/executions?thread=${threadId}`)).body as {
      data: { id: string; status: string; agentSlug: string; routerSlug: string | null }[];
    }
  ).data;

async function write(page: Page, message: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(message);
  // Nothing can be sent until the answer before is loaded.
  await page.getByRole('button', { name: 'Send', exact: true, disabled: false }).waitFor();
  await page.keyboard.press('Enter');
}

/** A script of the model that answers when the test says so. */
function held(): { answer: () => void; script: () => Promise<{ text: string }> } {
  let answer = () => {};
  const isSaid = new Promise<void>((resolve) => (answer = resolve));
  return {
    answer: () => answer(),
    script: async () => {
      await isSaid;
      return { text: 'Here you are.' };
    },
  };
}

inBrowser(
  'words and steps appear while the agent works, and the conversation is the same after a reload',
  async () => {
    const last = held();
    app.model.play(({ messages }) =>
      messages.at(-1)!.role === 'tool'
        ? last.script()
        : {
            text: 'Let me look.',
            toolCalls: [{ id: 'c1', name: 'entity_query', args: { type: 'product' } }],
          },
    );
    const page = await app.open('/playground?agent=shop');
    await write(page, 'Do you have tents?');
    // The first words and the tool's result are shown although the second call of the model
    // has not answered.
    await page.getByText('Let me look.').waitFor();
    const steps = page.getByRole('complementary', { name: 'What happens' });
    await steps.getByRole('button', { name: /entity\.query/ }).click();
    await until(async () =>
      (await steps.getByRole('region', { name: 'Result' }).innerText()).includes('"Tent"'),
    );
    await steps.getByText('running').first().waitFor();
    const threadId = threadOf(page);
    expect((await executionsOf(threadId))[0]!.status).toBe('running');
    // A reload in the middle follows the same execution.
    await page.reload();
    await page.getByText('Let me look.').waitFor();
    last.answer();
    await page.getByText('Here you are.').waitFor();
    await steps.getByText('succeeded').waitFor();
    await page.reload();
    await page.getByText('Here you are.').waitFor();
    await page.getByText('Do you have tents?').waitFor();
    expect(await messagesOf(threadId)).toEqual([
      ['assistant', 'Here you are.'],
      ['assistant', 'Let me look.'],
      ['user', 'Do you have tents?'],
    ]);
    expect((await app.owner.get(`/v1/threads/${threadId}`)).body).toMatchObject({
      channel: 'dashboard',
    });
    // The same thread continues; a new conversation is another one.
    app.model.play(() => ({ text: 'You are welcome.' }));
    await write(page, 'Thanks');
    await until(async () => (await executionsOf(threadId)).length === 2);
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('heading', { name: 'Write to Shop' }).waitFor();
    expect(new URL(page.url()).search).toBe('?agent=shop');
    await page.goBack();
    await page.getByText('Do you have tents?').waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'an answer that is stopped is cancelled, and the message can be followed by another one',
  async () => {
    const first = held();
    app.model.play(first.script);
    const page = await app.open('/playground?agent=shop');
    await write(page, 'Explain everything');
    // The model answers only when the execution is cancelled: the reply is not sent.
    const cancelled = page.waitForResponse((response) => response.url().endsWith('/cancel'));
    await page.getByRole('button', { name: 'Stop' }).click();
    expect((await cancelled).status()).toBe(200);
    first.answer();
    await page.getByText('Stopped. No reply was sent.').waitFor();
    const threadId = threadOf(page);
    expect((await executionsOf(threadId))[0]!.status).toBe('cancelled');
    app.model.play(() => ({ text: 'Short answer.' }));
    // The focus has stayed where the next message is written.
    await page.keyboard.type('In short');
    await page.keyboard.press('Enter');
    await page.getByText('Short answer.').waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('params are fields of the agent, and nothing is sent before they are right', async () => {
  const page = await app.open('/playground?agent=clerk');
  const problem = page.getByRole('button', { name: 'plan is required' });
  await problem.waitFor();
  // A suggestion is kept until it can be sent.
  await page.getByRole('button', { name: 'Which orders are open?' }).click();
  const send = page.getByRole('button', { name: 'Send', exact: true });
  expect(await send.isDisabled()).toBe(true);
  await problem.click();
  await page.getByLabel('plan *').fill('gold');
  await page.getByLabel('visits').fill('many');
  await page.getByText('visits is not a number').first().waitFor();
  await page.getByLabel('visits').fill('3');
  await page.getByLabel('cart').fill('[1]');
  await page.getByText('cart is not a JSON object').first().waitFor();
  await page.getByLabel('cart').fill('{"items": 2}');
  await send.click();
  await page.getByText('The answer is 42.').waitFor();
  const threadId = threadOf(page);
  expect((await app.owner.get(`/v1/threads/${threadId}`)).body).toMatchObject({
    params: { plan: 'gold', visits: 3, cart: { items: 2 } },
  });
  // The prompt with its values, of which the missing one is marked as an error.
  await page.getByRole('link', { name: 'Prompt' }).last().click();
  const prompt = page.getByRole('region', { name: 'Prompt' });
  await prompt.getByTitle('threadContext.params.plan').waitFor();
  expect(await prompt.getByTitle('threadContext.params.plan').innerText()).toBe('gold');
  expect(await prompt.getByTitle('missing.value').innerText()).toContain('[TEMPLATE_ERROR');
  expect(await prompt.getByTitle('entity.query').innerText()).toContain('"name":"Tent"');
  await page.getByRole('button', { name: 'Template' }).click();
  expect(await prompt.innerText()).toContain('{{threadContext.params.plan}}');
  // The params of the thread are there again after a reload.
  await page.reload();
  await page.getByRole('button', { name: 'Params and model' }).click();
  await until(async () => (await page.getByLabel('plan *').inputValue()) === 'gold');
  await page.getByLabel('visits').fill('');
  await write(page, 'Again');
  await until(async () => (await executionsOf(threadId)).length === 2);
  expect((await app.owner.get(`/v1/threads/${threadId}`)).body).toMatchObject({
    params: { plan: 'gold', visits: null },
  });
  expect(app.complaints).toEqual([]);
});

inBrowser('another model answers one message, and its failure says what to do', async () => {
  const page = await app.open('/playground?agent=shop');
  await page.getByRole('button', { name: 'Params and model' }).click();
  await page.getByLabel('Model for the next message').fill('anthropic/claude-x');
  await write(page, 'Hello');
  const alert = page.getByRole('alert');
  await alert.getByText('No key for model provider').waitFor();
  await alert.getByText('Set a key of the provider').waitFor();
  await alert.getByRole('link', { name: 'Add a provider' }).waitFor();
  // The next message has the model of the agent again.
  expect(await page.getByLabel('Model for the next message').inputValue()).toBe('');
  await alert.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The answer is 42.').waitFor();
  app.model.play(() => ({ status: 401, message: 'Incorrect API key provided' }));
  await write(page, 'And now?');
  await page.getByText('The provider refused the key.').waitFor();
  await page.getByText('Incorrect API key provided').first().waitFor();
});

inBrowser(
  'a router chooses the agent, and the steps are those of the agent that answered',
  async () => {
    const page = await app.open('/playground');
    await page
      .getByRole('combobox', { name: 'Agent or router' })
      .selectOption({ label: 'Router: Front desk' });
    await page.getByRole('heading', { name: 'Write to Front desk' }).waitFor();
    await write(page, 'Hello');
    await page.getByText('The answer is 42.').waitFor();
    await until(async () => (await executionsOf(threadOf(page)))[0]!.status === 'succeeded');
    expect((await executionsOf(threadOf(page)))[0]).toMatchObject({
      agentSlug: 'shop',
      routerSlug: 'front',
    });
    await page.getByRole('link', { name: 'Prompt' }).last().click();
    await page.getByText('You sell tents.').waitFor();
    // The router is the first choice the next time.
    await page.goto(`${app.base()}/playground`);
    await page.getByRole('heading', { name: 'Write to Front desk' }).waitFor();
  },
);

inBrowser(
  'a message that the server refuses stays in the box, and one whose answer is lost is stored once',
  async () => {
    const page = await app.open('/playground?agent=shop');
    await page.route('**/v1/executions', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: '{"error":"Service temporarily unavailable"}',
      }),
    );
    const box = page.getByRole('textbox', { name: 'Message', exact: true });
    await write(page, 'only once');
    await page
      .getByRole('alert')
      .getByText('Not sent: Service temporarily unavailable')
      .waitFor({ timeout: 15_000 });
    expect(await box.inputValue()).toBe('only once');
    await page.reload();
    expect(await box.inputValue()).toBe('only once');
    await page.unroute('**/v1/executions');
    let lost = 1;
    await page.route('**/v1/executions', async (route) => {
      if (route.request().method() !== 'POST' || lost-- <= 0) return route.fallback();
      await route.fetch();
      return route.abort();
    });
    await box.press('Enter');
    await page.getByText('The answer is 42.').waitFor();
    expect(await executionsOf(threadOf(page))).toHaveLength(1);
  },
);

inBrowser('on a phone the steps are a tab, and Enter is a new line', async () => {
  const page = await app.open('/playground?agent=shop', { width: 390 });
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello');
  await page.keyboard.press('Enter');
  expect(await page.getByRole('textbox', { name: 'Message', exact: true }).inputValue()).toBe(
    'Hello\n',
  );
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The answer is 42.').waitFor();
  await page.getByRole('link', { name: 'Steps' }).click();
  await page.getByRole('button', { name: /gpt-5-mini/ }).waitFor();
  expect(await page.getByText('The answer is 42.').isVisible()).toBe(false);
  await page.goBack();
});

inBrowser('a member chats in production, and sees the prompt as it was sent', async () => {
  const production = await app.tenant.client({
    permissions: ['*', 'manage'],
    environment: 'production',
  });
  await pushShop(production);
  const member = await app.join('member', 'Luis Soto');
  const page = await app.open('/playground?agent=shop', { as: member, environment: 'production' });
  await write(page, 'Hello');
  await page.getByText('The answer is 42.').waitFor();
  await page.getByRole('link', { name: 'Prompt' }).last().click();
  await page.getByText('Only an admin can compile prompts in production.').waitFor();
  await page.getByText('You sell tents.').waitFor();
  expect(app.complaints).toEqual([]);
  const refused = await fetch(`${app.stack.url}/v1/compile-prompt`, {
    method: 'POST',
    headers: {
      ...member.headers,
      'Parley-Environment': 'production',
      'Content-Type': 'application/json',
    },
    body: '{"slug":"shop"}',
  });
  expect(refused.status).toBe(403);
});

inBrowser(
  'a conversation that a person has taken over says that the agent does not answer',
  async () => {
    const page = await app.open('/playground?agent=shop');
    await write(page, 'Hello');
    await page.getByText('The answer is 42.').waitFor();
    expect((await app.owner.post(`/v1/threads/${threadOf(page)}/takeover`, {})).status).toBe(200);
    await page.getByText('A person answers this conversation.').waitFor();
    await write(page, 'Are you there?');
    await page.getByText('A person has taken the conversation over').waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser('unknown agents and threads of the address', async () => {
  const page = await app.open('/playground?agent=missing');
  await page.getByText('missing does not exist in this environment').waitFor();
  await page.goto(`${app.base()}/playground?thread=thread_unknown`);
  await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
});
