import { inBrowser, useConsole } from './console-kit';
import { chatWithShop, pushShop } from './shop';

const app = useConsole();
beforeAll(async () => {
  await pushShop(app.owner);
  await app.owner.post('/v1/data/product', { data: { name: 'Tent', price: 100 } });
});

inBrowser(
  'an execution shows its steps, why a call was denied, the prompt and the messages, at an address of each',
  async () => {
    app.model.play((_request, index) =>
      index === 0
        ? {
            toolCalls: [
              { id: 'c1', name: 'entity_query', args: { type: 'product' } },
              { id: 'c2', name: 'payment_create', args: { amount: 1 } },
            ],
          }
        : { text: 'Found it.' },
    );
    app.model.requests.length = 0;
    const { executionId } = await chatWithShop(app, 'find');
    const page = await app.open('/executions');
    await page.getByRole('link', { name: /find/ }).click();
    await page.waitForURL(`**/executions/${executionId}*`);
    // The failed step is shown first.
    await page.getByText('permission_denied').waitFor();
    await page.getByRole('button', { name: /entity\.query/ }).click();
    await page.getByText('allowed').waitFor();
    expect(await page.getByRole('region', { name: 'Result' }).innerText()).toContain(
      '"price": 100',
    );
    await page.reload();
    expect(await page.getByRole('region', { name: 'Result' }).innerText()).toContain(
      '"price": 100',
    );
    await page.getByRole('link', { name: 'Prompt as sent' }).click();
    await page.getByText('You sell tents.').waitFor();
    await page.getByRole('link', { name: 'Steps' }).click();
    await page.getByRole('link', { name: 'Conversation', exact: true }).click();
    await page.getByRole('button', { name: /agent · 2 tools/ }).click();
    await page.getByRole('link', { name: 'Open execution' }).click();
    await page.waitForURL(`**/executions/${executionId}*`);
    expect(app.complaints).toEqual([]);
  },
);
