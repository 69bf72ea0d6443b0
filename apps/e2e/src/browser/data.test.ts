import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';
import { createLeads, pushLeads, removeLeads, storedLeads } from './leads';

/** Types, filters and entities. Cells and files have tests of their own. */
const app = useConsole();
beforeAll(() => pushLeads(app.owner));
beforeEach(() => removeLeads(app.owner));

const names = async (page: Page): Promise<string[]> =>
  (await page.getByRole('gridcell').and(page.locator('[data-column="1"]')).allInnerTexts()).sort();
const shows = (page: Page, ...wanted: string[]) =>
  until(async () => (await names(page)).join() === wanted.sort().join());
const panel = (page: Page, name: string) => page.getByRole('region', { name });

inBrowser(
  'a type shows its schema: what is required, allowed, searched and referred to',
  async () => {
    const page = await app.open('/data');
    await page.getByRole('link', { name: 'Schema of Lead' }).click();
    const dialog = page.getByRole('dialog', { name: 'Schema of Lead' });
    await dialog
      .getByRole('row', { name: /^name As on the invoice string required searched$/ })
      .waitFor();
    await dialog.getByRole('row', { name: /^tier string one of gold, silver$/ }).waitFor();
    await dialog.getByRole('row', { name: /^tags array of string/ }).waitFor();
    await page.reload();
    await dialog.getByRole('link', { name: 'shop' }).click();
    await page.waitForURL('**/data/shop');
    await page.goBack();
    await dialog.waitFor();
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'filters are said in words, kept in the address, shown as code, and a wrong value says so',
  async () => {
    await createLeads(app.owner, [
      {
        name: 'Ana',
        tier: 'gold',
        score: 10,
        vip: true,
        born: '1990-05-01',
        tags: ['new'],
        extra: { code: 'x' },
      },
      { name: 'Luis', tier: 'silver', score: 20, vip: false, born: '2000-01-01', tags: [] },
      { name: 'Eva', score: 30 },
    ]);
    const page = await app.open('/data/lead');
    await shows(page, 'Ana', 'Eva', 'Luis');
    const add = () => page.getByRole('button', { name: 'Add filter' }).click();
    const last = (label: string) => page.getByLabel(label, { exact: true }).last();
    await add();
    await last('Field').selectOption('score');
    await last('Operator').selectOption('lte');
    await last('Value').fill('many');
    await last('Value').press('Enter');
    await page.getByText('Not applied: not a number').waitFor();
    await shows(page, 'Ana', 'Eva', 'Luis');
    await last('Value').fill('20');
    await last('Value').press('Enter');
    await shows(page, 'Ana', 'Luis');
    await add();
    await last('Field').selectOption('tier');
    await last('Operator').selectOption('in');
    await page.getByRole('checkbox', { name: 'gold' }).check();
    await shows(page, 'Ana');
    await page.getByRole('checkbox', { name: 'silver' }).check();
    await shows(page, 'Ana', 'Luis');
    await add();
    await last('Field').selectOption('born');
    await last('Operator').selectOption('lt');
    await last('Value').fill('1995-12-31');
    await shows(page, 'Ana');
    await page.getByRole('button', { name: 'As code' }).click();
    const filters =
      '{"filters":{"data.score":{"$lte":20},"data.tier":{"$in":["gold","silver"]},"data.born":{"$lt":"1995-12-31"}}}';
    await page.getByText(`-d '${filters}'`).waitFor();
    await page.keyboard.press('Escape');
    await page.reload();
    await shows(page, 'Ana');
    for (let at = 0; at < 3; at += 1)
      await page.getByRole('button', { name: 'Remove filter' }).first().click();
    await add();
    await last('Field').selectOption('tier');
    await last('Operator').selectOption('empty');
    await shows(page, 'Eva');
    await page.getByRole('button', { name: 'Remove filter' }).click();
    await add();
    await last('Field').selectOption({ label: 'Another field…' });
    await last('Field').fill('extra.code');
    await last('Field').press('Enter');
    await last('Value').fill('x');
    await last('Value').press('Enter');
    await shows(page, 'Ana');
    await page.goto(
      `${app.base()}/data/lead?filters=[["score","bogus","1"],["vip","eq","true"],"x",["vip","eq","false"]]`,
    );
    await page.getByText('Not applied: this field has this operator already').waitFor();
    await shows(page, 'Ana');
    await page.getByRole('searchbox', { name: 'Search' }).fill('lui');
    await shows(page, 'Luis');
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'an entity is created, edited, deleted and restored by a member, and its history says what changed',
  async () => {
    const [shop] = await createLeads(app.owner, [{ name: 'North' }], 'shop');
    const luis = await app.join('member', 'Luis Soto');
    const page = await app.open('/data/lead', { as: luis });
    await page.getByText('No entities yet').waitFor();
    await page.getByRole('button', { name: 'Create entity' }).click();
    const fresh = panel(page, 'New: Lead');
    await fresh.getByLabel(/^score/).fill('cheap');
    await fresh.getByRole('button', { name: 'Create entity' }).click();
    await fresh.getByRole('alert').getByText('must be a number').waitFor();
    await fresh.getByLabel(/^score/).fill('12.5');
    await fresh.getByRole('button', { name: 'Create entity' }).click();
    await fresh.getByRole('alert').getByText('is required').waitFor();
    await fresh.getByLabel(/^name/).fill('Ana');
    await fresh.getByLabel(/^tags/).fill('["a"]');
    await fresh.getByRole('combobox', { name: /^shop/ }).fill('nor');
    await fresh.getByRole('button', { name: /^North/ }).click();
    await fresh.getByRole('button', { name: 'Create entity' }).click();
    const open = panel(page, 'Ana');
    await open.getByRole('link', { name: 'North' }).waitFor();
    expect(await storedLeads(app.owner)).toEqual([{ name: 'Ana', score: 12.5, tags: ['a'], shop }]);

    await open.getByLabel(/^name/).fill('Ana Soto');
    // What is typed is not lost without a question.
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Ana' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await open.getByRole('button', { name: 'Save' }).click();
    const renamed = panel(page, 'Ana Soto');
    await renamed.getByRole('tab', { name: 'History' }).click();
    await renamed
      .getByRole('listitem')
      .filter({ hasText: 'name Ana → Ana Soto' })
      .first()
      .waitFor();
    await renamed.getByText('by Luis Soto').first().waitFor();
    await page.reload();
    await renamed.getByRole('tab', { name: 'Fields' }).click();
    await renamed.getByRole('button', { name: 'Delete 1 entity' }).click();
    await page.getByText('Delete 1 of Lead? It can be restored.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 entity' }).click();
    await until(async () => (await storedLeads(app.owner)).length === 0);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('deleted');
    await page.getByRole('gridcell').getByText('Ana Soto').click();
    await page.keyboard.press('Control+Enter');
    await renamed.getByRole('button', { name: 'Restore' }).click();
    await until(async () => (await storedLeads(app.owner)).length === 1);
    expect(app.complaints.filter((text) => !text.startsWith('40'))).toEqual([]);
  },
);

inBrowser(
  'relations lead to the other entity and back; an unknown id shows the page of unknown ids',
  async () => {
    const [shop] = await createLeads(app.owner, [{ name: 'North' }], 'shop');
    const [id, other] = await createLeads(app.owner, [{ name: 'Ana', shop }, { name: 'Luis' }]);
    const args = { fromId: id, relation: 'knows', toId: other };
    expect((await app.owner.post('/v1/run-tool', { toolName: 'entity.link', args })).status).toBe(
      200,
    );
    const page = await app.open(`/data/lead?entity=${id}&tab=relations`);
    const open = panel(page, 'Ana');
    await open.getByRole('region', { name: 'Named relations' }).getByText('knows →').waitFor();
    await open.getByRole('link', { name: 'Luis' }).click();
    await panel(page, 'Luis').getByRole('tab', { name: 'Relations' }).click();
    await panel(page, 'Luis').getByText('← knows').waitFor();
    await page.goBack();
    await open
      .getByRole('region', { name: 'Refers to' })
      .getByRole('link', { name: 'North' })
      .click();
    await page.waitForURL('**/data/shop?entity=*');
    await panel(page, 'North').getByRole('tab', { name: 'Relations' }).click();
    await panel(page, 'North').getByRole('link', { name: 'Lead by shop (1)' }).click();
    await shows(page, 'Ana');
    expect(app.complaints).toEqual([]);
    for (const unknown of ['ent_unknown', `${id}x`]) {
      await page.goto(`${app.base()}/data/lead?entity=${unknown}`);
      await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    }
  },
);

inBrowser('what another person has saved meanwhile stays, beside what is typed here', async () => {
  const [id] = await createLeads(app.owner, [{ name: 'Ana', score: 1 }]);
  const page = await app.open(`/data/lead?entity=${id}`);
  await panel(page, 'Ana').getByLabel(/^name/).fill('Ana B.');
  await app.owner.patch(`/v1/data/lead/${id}`, { data: { score: 2 } });
  await page
    .getByText('Another person has changed this entity since.')
    .waitFor({ timeout: 20_000 });
  await page.getByRole('button', { name: 'Save' }).click();
  await until(async () => (await storedLeads(app.owner))[0]!.name === 'Ana B.');
  expect(await storedLeads(app.owner)).toEqual([{ name: 'Ana B.', score: 2 }]);
});

inBrowser('on a phone the rows are a list, and an entity is a page of its own', async () => {
  await createLeads(app.owner, [{ name: 'Ana', tier: 'gold', score: 1_234.5 }, { name: 'Luis' }]);
  const page = await app.open('/data/lead', { width: 390, locale: 'es-CL' });
  await page.getByRole('button', { name: /^Ana.*gold · 1234,5/ }).click();
  await page.getByLabel(/^score/).fill('2');
  await page.getByRole('button', { name: 'Guardar' }).click();
  await until(async () => (await storedLeads(app.owner))[0]!.score === 2);
  await page.getByRole('button', { name: 'Volver a la lista' }).click();
  await page.getByRole('button', { name: /^Ana.*gold · 2/ }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(app.complaints).toEqual([]);
});
