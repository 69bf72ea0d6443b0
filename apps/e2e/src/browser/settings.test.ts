import { setTimeout } from 'node:timers/promises';
import { type KapsoServer, startKapsoServer, until } from '@parley/testing';
import { createClient, push } from '../client';
import { type Person, inBrowser, useConsole } from './console-kit';
import { pushShop } from './shop';
import { newNumberId } from './whatsapp-number';

let kapso: KapsoServer;
const app = useConsole();
const number = newNumberId();
let member: Person;
beforeAll(async () => {
  kapso = await startKapsoServer();
  kapso.numbers[number] = '+1 555-123-4567';
  await pushShop(app.owner);
  member = await app.join('member', 'Luis Soto');
});
afterAll(() => kapso?.stop());

const organization = async () => (await app.owner.get('/v1/organization')).body;
/** A request of the member, without the page. */
const asMember = async (method: string, path: string, body?: unknown) => {
  const answer = await createClient(app.stack.url).send(method, path, body, member.headers);
  return [answer.status, answer.body.code];
};
const refused = [403, 'requires_admin'];

inBrowser(
  'opening hours, times and addresses are saved as they are shown; others stay',
  async () => {
    const page = await app.open('/settings');
    await page.getByLabel('Name', { exact: true }).fill('Tienda de Ana');
    await page.getByLabel('Time zone').selectOption('America/Santiago');
    await page.getByRole('button', { name: 'Save changes' }).first().click();
    await page.getByRole('status').getByText('Saved').waitFor();
    expect(await organization()).toMatchObject({
      name: 'Tienda de Ana',
      timezone: 'America/Santiago',
    });

    const before = (await organization()).conversations;
    // Another admin changes what this page still shows as it was.
    await app.owner.patch('/v1/organization', { conversations: { phonePauseMinutes: 90 } });
    await page.getByRole('radio', { name: 'At these hours' }).check();
    await page.getByRole('button', { name: 'Remove hours on Friday' }).click();
    await page.getByRole('button', { name: 'Add hours on Saturday' }).click();
    await page.getByLabel('Saturday, from').fill('22:00');
    await page.getByLabel('Saturday, until').fill('02:00');
    await page.getByText('on the next day').waitFor();
    await page.getByLabel('Message outside of opening hours').fill('Volvemos mañana.');
    await page.getByLabel('The agent takes back after (minutes)').fill('');
    await page.getByLabel('E-mails to').fill('ana@example.com, luis@example');
    await page.getByRole('button', { name: 'Save changes' }).last().click();
    await page.getByRole('alert').getByText('notifyEmails.1').waitFor();
    await page.getByLabel('E-mails to').fill('ana@example.com\nluis@example.com');
    await page.getByRole('button', { name: 'Save changes' }).last().click();
    // The first form still says so.
    await page.getByRole('status').getByText('Saved').nth(1).waitFor();
    const saved = {
      ...before,
      openingHours: [
        { days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '18:00' },
        { days: ['sat'], from: '22:00', to: '02:00' },
      ],
      closedMessage: 'Volvemos mañana.',
      takeBackAfterMinutes: null,
      notifyEmails: ['ana@example.com', 'luis@example.com'],
      phonePauseMinutes: 90,
    };
    expect((await organization()).conversations).toEqual(saved);
    await page.reload();
    expect(await page.getByLabel('Saturday, until').inputValue()).toBe('02:00');

    const other = await app.open('/settings', { as: member });
    await other.getByText('Only an admin can change these settings.').waitFor();
    await other.getByText('Saturday: 22:00–02:00').waitFor();
    expect(await other.getByRole('button', { name: 'Save changes' }).count()).toBe(0);
    expect(await asMember('PATCH', '/v1/organization', { name: 'x' })).toEqual(refused);
  },
);

inBrowser(
  'a provider is set up, tested, disabled and removed, and each change is in the audit log',
  async () => {
    const page = await app.open('/integrations');
    await page.getByRole('link', { name: /Kapso/ }).click();
    await page.getByText('KAPSO_API_KEY').waitFor();
    await page.getByLabel('API key').fill('a-wrong-key-1234');
    await page.getByLabel('Address of the API').fill(kapso.url);
    await page.getByLabel(/^Reply to media/).selectOption('none');
    await page.getByRole('button', { name: 'Set up' }).click();
    const test = page.getByRole('button', { name: 'Test Kapso (WhatsApp)' });
    await test.click();
    await page.getByRole('status').getByText('failed', { exact: true }).waitFor();
    await page.getByText('Set: ••••1234.').waitFor();
    await page.getByLabel('API key').fill(kapso.apiKey);
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    await test.click();
    await page.getByRole('status').getByText('accepted', { exact: true }).waitFor();
    const stored = async () => (await app.owner.get('/v1/integrations/kapso')).body;
    const valueOf = async (field: string) =>
      (await stored()).fields.find(({ name }: { name: string }) => name === field).value;
    expect([await valueOf('mediaReply'), await valueOf('apiKey')]).toEqual(['', '••••-key']);
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Enable', exact: true }).waitFor();
    expect((await stored()).enabled).toBe(false);
    await page.getByRole('button', { name: 'Remove integration' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove integration' }).click();
    await page.getByRole('heading', { name: 'Integrations' }).waitFor();
    expect((await app.owner.get('/v1/integrations/kapso')).status).toBe(404);

    await page.goto(`${app.base()}/audit-log?target=kapso`);
    await page.getByRole('link', { name: /Integration removed/ }).waitFor();
    expect(await page.getByRole('listitem').count()).toBe(6);
    await page.getByLabel('Action').selectOption('integration.updated');
    await page.getByRole('link', { name: /Integration changed/ }).click();
    await page.reload();
    const entry = page.getByRole('dialog');
    await entry.getByRole('cell', { name: '••••-key' }).waitFor();
    expect(await entry.innerText()).toMatch(/apiKey\s+••••1234\s+••••-key/);
    await entry.getByText(app.admin.name).or(entry.getByText(app.admin.email)).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Since').fill('2999-01-01');
    await page.getByText('Nothing matches the filters.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page
      .getByRole('link', { name: /Settings changed|Person invited/ })
      .first()
      .waitFor();
    expect(app.complaints).toEqual([]);
    expect(await asMember('GET', '/v1/audit-log')).toEqual(refused);
    expect(await asMember('GET', '/v1/integrations')).toEqual(refused);
  },
);

inBrowser('a server of MCP tools gets a name, and its headers are masked', async () => {
  const page = await app.open('/integrations');
  await page.getByRole('button', { name: 'Add MCP server' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('crm');
  await dialog.getByLabel('Address of the server').fill('https://user:secret@mcp.example/mcp');
  await dialog.getByRole('button', { name: 'Add MCP server' }).click();
  await dialog.getByRole('alert').getByText('without a user name and password').waitFor();
  await dialog.getByLabel('Address of the server').fill('https://mcp.example/mcp');
  await dialog.getByLabel(/^Headers/).fill('X-Team: sales-team-4321');
  await dialog.getByRole('button', { name: 'Add MCP server' }).click();
  await page.getByText('Set: X-Team: ••••4321.').waitFor();
  // The headers are not sent to another server, unless they are written again.
  await page.getByLabel('Address of the server').fill('https://other.example/mcp');
  await page
    .getByText('Set: X-Team: ••••4321. Write it again, because the address changes.')
    .waitFor();
  await page.getByRole('button', { name: 'Save settings' }).click();
  const urlOf = async () => (await app.owner.get('/v1/integrations/mcp.crm')).body.fields[0].value;
  expect(await urlOf()).toBe('https://mcp.example/mcp');
  await page.getByLabel(/^Headers/).fill('X-Team: sales-team-8765');
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Set: X-Team: ••••8765.').waitFor();
  await page.getByRole('checkbox', { name: 'Remove it' }).check();
  await page.getByRole('button', { name: 'Save settings' }).click();
  await page.getByText('Set: X-Team').waitFor({ state: 'detached' });
  const { fields } = (await app.owner.get('/v1/integrations/mcp.crm')).body;
  expect(fields.map(({ name, value }: { name: string; value: unknown }) => [name, value])).toEqual([
    ['url', 'https://other.example/mcp'],
    ['apiKey', null],
    ['headers', null],
  ]);
  await page.goto(`${app.base()}/integrations?open=mcp.unknown`);
  await page.getByText('It does not exist, was deleted').waitFor();
});

inBrowser('a number is connected, answered by someone else, and disconnected', async () => {
  const page = await app.open('/settings');
  // The agents, of which one is chosen, are loaded late; the form waits for them.
  await page.route('**/v1/agents?*', async (route) => {
    await setTimeout(500);
    await route.continue();
  });
  await page.goto(`${app.base()}/channels?open=new`);
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('radio', { name: /^A number already at Kapso/ }).check();
  await dialog.getByLabel('Id of the number').fill(number);
  await dialog.getByRole('button', { name: 'Connect number' }).click();
  await dialog.getByRole('alert').getByText('Kapso is not configured').waitFor();
  await dialog.getByRole('link', { name: 'Set up Kapso' }).waitFor();
  // A newer agent is the first of the list, and not chosen.
  await push(app.owner, {
    agents: [{ slug: 'newer', name: 'Newer', systemPrompt: 'Hello', tools: [] }],
  });
  const isListed = async () => {
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
    return (await dialog.getByLabel('Who answers').innerText()).startsWith('Newer');
  };
  await until(isListed, { limitMs: 20_000 });
  await app.owner.post('/v1/integrations', {
    provider: 'kapso',
    settings: { apiKey: kapso.apiKey, apiUrl: kapso.url },
  });
  await dialog.getByRole('button', { name: 'Connect number' }).click();
  await page.getByRole('heading', { name: '+15551234567' }).waitFor();
  await page.getByText('reminder').waitFor();
  expect(kapso.webhooks).toHaveLength(1);
  await page.getByLabel('Entity type of contacts').selectOption('product');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('status').getByText('Saved').waitFor();
  const channels = async () => (await app.owner.get('/v1/channels')).body.data;
  expect(await channels()).toMatchObject([
    { agent: 'shop', contactType: 'product', status: 'connected' },
  ]);

  const other = await app.open(`/channels?open=${(await channels())[0].id}`, { as: member });
  await other.getByText('reminder').waitFor();
  for (const name of ['Save changes', 'Disconnect number'])
    expect(await other.getByRole('button', { name }).count()).toBe(0);
  expect(await asMember('DELETE', `/v1/channels/${(await channels())[0].id}`)).toEqual(refused);
  expect(await asMember('POST', '/v1/channels', { agent: 'shop', isSimulated: true })).toEqual(
    refused,
  );

  await page.getByRole('button', { name: 'Disconnect number' }).click();
  await page.getByText(/^Disconnect \+15551234567\?/).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect number' }).click();
  await page.getByText('No channels yet').waitFor();
  expect([await channels(), kapso.webhooks]).toEqual([[], []]);

  await page.getByRole('button', { name: 'Connect number' }).click();
  await dialog.getByRole('button', { name: 'Connect number' }).click();
  await page.getByText('https://setup.example/1').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  const [waiting] = await channels();
  await page.getByRole('button', { name: 'Create new setup link' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  await until(async () => (await channels()).length === 1);
  expect((await channels())[0]).toMatchObject({
    status: 'pending',
    customerId: waiting.customerId,
  });
  expect((await channels())[0].id).not.toBe(waiting.id);
  expect(kapso.problems).toEqual([]);
});

inBrowser('the value of a tool secret is written and never read', async () => {
  const page = await app.open('/tool-secrets');
  await page.getByText('No secrets yet').waitFor();
  await page.getByRole('button', { name: 'Add secret' }).click();
  const dialog = page.getByRole('dialog').last();
  await dialog.getByLabel('Name').fill('CARRIER_KEY');
  await dialog.getByLabel('Value').fill('a value that is never shown');
  await dialog.getByRole('button', { name: 'Add secret' }).click();
  await page.getByRole('link', { name: /CARRIER_KEY/ }).click();
  expect(await page.content()).not.toContain('a value that is never shown');
  await page.getByRole('button', { name: 'Set value' }).click();
  await dialog.getByLabel('Value').fill('another value');
  await dialog.getByRole('button', { name: 'Set value' }).click();
  await page.getByRole('button', { name: 'Delete secret' }).click();
  await page.getByText('Delete CARRIER_KEY? No tool uses it.').waitFor();
  expect((await app.owner.get('/v1/tool-secrets')).body.data).toMatchObject([
    { name: 'CARRIER_KEY', tools: [] },
  ]);
  await dialog.getByRole('button', { name: 'Delete secret' }).click();
  await page.getByText('No secrets yet').waitFor();
  expect((await app.owner.get('/v1/tool-secrets')).body.data).toEqual([]);
  const { data } = (await app.owner.get('/v1/audit-log?targetId=CARRIER_KEY')).body;
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    ...['tool_secret.deleted', 'tool_secret.set', 'tool_secret.set'],
  ]);
  expect(await asMember('POST', '/v1/tool-secrets', { name: 'X', value: 'four' })).toEqual(refused);
});
