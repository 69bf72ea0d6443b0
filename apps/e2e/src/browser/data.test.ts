import { until } from '@parley/testing';
import { inBrowser, useConsole } from './console-kit';
import { pushShop } from './shop';

const app = useConsole();
beforeAll(async () => {
  await pushShop(app.owner);
  await app.owner.post('/v1/data/product', { data: { name: 'Tent', price: 100, tags: ['new'], active: true } });
});

inBrowser('entities are filtered, created, changed, deleted and restored; filters stay in the address', async () => {
  const page = await app.open('/data');
  await page.getByRole('link', { name: /Product/ }).click();
  await page.getByText('Tent', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Create entity' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('name').fill('Mat');
  await dialog.getByLabel('price').fill('cheap');
  await dialog.getByRole('button', { name: 'Create entity' }).click();
  await dialog.getByRole('alert').waitFor();
  await dialog.getByLabel('price').fill('12.5');
  await dialog.getByLabel('tags').fill('["a"]');
  await dialog.getByRole('button', { name: 'Create entity' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Mat', { exact: true }).waitFor();
  const created = async () =>
    (
      (await app.owner.post('/v1/data/product/query', { filters: { 'data.name': { $in: ['Mat', 'Soft mat'] } } }))
        .body as {
        data: { data: object }[];
      }
    ).data.map((one) => one.data);
  expect(await created()).toEqual([{ name: 'Mat', price: 12.5, tags: ['a'] }]);

  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByLabel('Field').selectOption('price');
  await page.getByLabel('Operator').selectOption('lt');
  await page.getByLabel('Value').fill('50');
  await page.getByLabel('Value').press('Enter');
  await until(async () => (await page.getByText('Tent', { exact: true }).count()) === 0);
  await page.getByRole('button', { name: 'As code' }).click();
  await page.getByText(`'{"filters":{"data.price":{"$lt":50}}}'`).waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.getByText('Mat', { exact: true }).click();
  await dialog.getByLabel('name').fill('Soft mat');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Soft mat', { exact: true }).waitFor();
  expect(await created()).toEqual([{ name: 'Soft mat', price: 12.5, tags: ['a'] }]);

  await page.getByRole('listitem').filter({ hasText: 'Soft mat' }).getByRole('checkbox').check();
  await page.getByRole('button', { name: 'Delete 1 entity' }).click();
  await page.getByText('Delete 1 of product? They can be restored.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 1 entity' }).click();
  await until(async () => (await created()).length === 0);
  await page.getByRole('button', { name: 'Deleted' }).click();
  await page.getByText('Soft mat', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await until(async () => (await created()).length === 1);
  expect(app.complaints.filter((text) => !text.startsWith('400 '))).toEqual([]);
});
