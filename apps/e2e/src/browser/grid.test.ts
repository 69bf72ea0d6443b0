import { until } from '@parley/testing';
import type { Page } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';
import { createLeads, pushLeads, removeLeads, storedLeads } from './leads';

/** The grid of entities: cells, keys, the clipboard, many rows. */
const app = useConsole();
beforeAll(() => pushLeads(app.owner));
beforeEach(() => removeLeads(app.owner));

const lead = (name: string, more: object = {}) => ({
  name,
  tier: 'gold',
  score: 1.5,
  visits: 2,
  vip: false,
  ...more,
});
/** A cell by its row, from 0, and the name of its column. */
const columns = ['row', 'name', 'tier', 'score', 'visits', 'vip', 'born', 'shop', 'tags'];
const cell = (page: Page, row: number, column: string) =>
  page.locator(`[data-row="${row}"][data-column="${columns.indexOf(column)}"]`);
const focused = (page: Page) =>
  page.evaluate(() => {
    const { row, column } = (document.activeElement as HTMLElement).dataset;
    return row === undefined ? document.activeElement!.tagName : `${row} ${column}`;
  });
/** Opens the grid with the oldest entity first. */
async function openGrid(query = ''): Promise<Page> {
  const page = await app.open(`/data/lead?sort=createdAt&direction=asc${query}`);
  await cell(page, 0, 'name').waitFor();
  return page;
}
/** The bodies of the changes that a page sends, in their order for each entity. */
function changesOf(page: Page): Map<string, object[]> {
  const sent = new Map<string, object[]>();
  page.on('request', (request) => {
    if (request.method() !== 'PATCH') return;
    const bodies = sent.get(request.url()) ?? [];
    sent.set(request.url(), [...bodies, request.postDataJSON() as object]);
  });
  return sent;
}

inBrowser(
  'the keyboard moves a cursor, edits cells in their place, and saves each with one request',
  async () => {
    await createLeads(app.owner, [lead('Ana'), lead('Luis'), lead('Eva')]);
    const page = await openGrid();
    const sent = changesOf(page);
    await cell(page, 0, 'name').click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toBe('1 2');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowRight');
    // Typing replaces, Enter stores and goes down, F2 keeps the text.
    await page.keyboard.type('Anita');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('1 1');
    await page.keyboard.press('F2');
    await page.keyboard.type(' Soto');
    // Tab continues over cells without an editor.
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('1 3');
    await page.keyboard.type('2500.25');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('1 5');
    await page.keyboard.press('Space');
    await cell(page, 1, 'vip').getByText('yes').waitFor();
    await page.keyboard.press('ArrowUp');
    // Escape leaves the editor, and stores nothing.
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('77');
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('0 4');
    await page.keyboard.press('Delete');
    await until(async () => (await storedLeads(app.owner))[0]!.visits === null);
    await until(async () => (await storedLeads(app.owner))[1]!.vip === true);
    expect(await storedLeads(app.owner)).toEqual([
      lead('Anita', { visits: null }),
      lead('Luis Soto', { score: 2500.25, vip: true }),
      lead('Eva'),
    ]);
    await cell(page, 1, 'score').getByText('2,500.25').waitFor();
    expect([...sent.values()]).toEqual([
      [{ data: { name: 'Anita' } }, { data: { visits: null } }],
      [{ data: { name: 'Luis Soto' } }, { data: { score: 2500.25 } }, { data: { vip: true } }],
    ]);
    // The options of a field are chosen; objects and lists are edited in the entity.
    await cell(page, 0, 'tier').dblclick();
    await cell(page, 0, 'tier').getByRole('combobox').selectOption('silver');
    await page.keyboard.press('Enter');
    await until(async () => (await storedLeads(app.owner))[0]!.tier === 'silver');
    await cell(page, 0, 'tags').click();
    await page.keyboard.press('Enter');
    await until(async () =>
      page
        .getByRole('textbox', { name: /^tags/ })
        .evaluate((box) => box === document.activeElement),
    );
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a refused value stays in its cell with the reason until Escape; the stored value is not lost',
  async () => {
    const [id] = await createLeads(app.owner, [lead('Ana'), lead('Luis')]);
    const page = await openGrid();
    await cell(page, 0, 'score').click();
    await page.keyboard.type('cheap');
    await page.keyboard.press('Enter');
    await cell(page, 0, 'score').getByText('cheap').waitFor();
    expect(await cell(page, 0, 'score').getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.press('ArrowUp');
    await page.getByRole('status').getByText('must be a number').waitFor();
    await page.keyboard.press('Escape');
    await cell(page, 0, 'score').getByText('1.5').waitFor();
    // The server's own rules: a required field, and a server that is away.
    await cell(page, 0, 'name').click();
    await page.keyboard.press('Delete');
    await page.getByRole('status').getByText('is required').waitFor();
    await page.getByText('1 cell not saved').waitFor();
    await page.keyboard.press('Escape');
    await cell(page, 0, 'name').getByText('Ana').waitFor();
    await page.route(`**/v1/data/lead/${id}`, (route) =>
      route.fulfill({ status: 500, body: '{"error":"Internal error"}' }),
    );
    await page.keyboard.type('Bea');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    await page.getByRole('status').getByText('Internal error').waitFor();
    await page.unroute(`**/v1/data/lead/${id}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await until(async () => (await storedLeads(app.owner))[0]!.name === 'Bea');
    expect((await storedLeads(app.owner))[0]!.score).toBe(1.5);
    expect(app.complaints).toEqual([`400 /v1/data/lead/${id}`, `500 /v1/data/lead/${id}`]);
  },
);

inBrowser(
  'cells are copied as a spreadsheet reads them, and a pasted table shows what it changes before it does',
  async () => {
    await createLeads(app.owner, [lead('=Ana', { score: 10 }), lead('Luis'), lead('Eva')]);
    const page = await openGrid();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/bulk')) sent.push(request.postData()!);
    });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await cell(page, 0, 'name').click();
    await cell(page, 1, 'score').click({ modifiers: ['Shift'] });
    await page.keyboard.press('Control+C');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      "'=Ana\tgold\t10\nLuis\tgold\t1.5",
    );
    const table =
      'Ana B.\tsilver\t"1,234.5"\r\n"Luis\n2"\tbronze\t5\r\nEva\tgold\tcheap\r\nNo row\tgold\t1\r\n';
    await page.evaluate((text) => navigator.clipboard.writeText(text), table);
    await cell(page, 0, 'name').click();
    await page.keyboard.press('Control+V');
    const dialog = page.getByRole('dialog', { name: 'Paste' });
    // The tier is checked by the server, the number by the page; Eva and gold are stored already.
    await dialog.getByText('must be one of "gold", "silver"').waitFor();
    await dialog.getByText('must be a number').waitFor();
    await dialog.getByText('Changes 5 cells in 2 rows.').waitFor();
    await dialog.getByText('2 do not fit their field and are not changed.').waitFor();
    await dialog.getByText('has no place for them: 1 row.').waitFor();
    expect((await storedLeads(app.owner)).map(({ name }) => name)).toEqual(['=Ana', 'Luis', 'Eva']);
    await dialog.getByRole('button', { name: 'Change 5 cells' }).click();
    await page.getByText('2 changed').waitFor();
    expect(await storedLeads(app.owner)).toEqual([
      lead('Ana B.', { tier: 'silver', score: 1234.5 }),
      lead('Luis\n2', { score: 5 }),
      lead('Eva'),
    ]);
    expect(sent.map((body) => (JSON.parse(body) as { dryRun?: true }).dryRun)).toEqual([
      true,
      undefined,
    ]);
    await cell(page, 1, 'tier').getByText('bronze').waitFor();
    await cell(page, 2, 'score').getByText('cheap').waitFor();
    // One value needs no preview; one value over several cells fills them.
    await page.evaluate(() => navigator.clipboard.writeText('7'));
    await cell(page, 0, 'visits').click();
    await page.keyboard.press('Control+V');
    await until(async () => (await storedLeads(app.owner))[0]!.visits === 7);
    await cell(page, 2, 'visits').click({ modifiers: ['Shift'] });
    await page.keyboard.press('Control+V');
    await page.getByRole('button', { name: 'Change 2 cells' }).click();
    await until(async () => (await storedLeads(app.owner)).every(({ visits }) => visits === 7));
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'only visible rows are in the page, far rows are let go and come back in their places',
  async () => {
    const all = 1_600;
    await createLeads(
      app.owner,
      Array.from({ length: all }, (_, at) => lead(`Lead ${at}`)),
    );
    const page = await openGrid();
    await page.getByText('1,600 entities').waitFor();
    await cell(page, 0, 'name').click();
    const loaded = async () =>
      Number(
        /([\d,]+) (?:loaded of|in all)/
          .exec(await page.locator('main').innerText())![1]!
          .replaceAll(',', ''),
      );
    for (let last = 0; last < all - 1;) {
      await until(async () => (await loaded()) > last + 1);
      // Again if the grid did not have the loaded rows yet.
      await until(async () => {
        await page.keyboard.press('Control+End');
        return Number((await focused(page)).split(' ')[0]) > last;
      });
      last = Number((await focused(page)).split(' ')[0]);
      expect(await page.getByRole('row').count()).toBeLessThan(80);
    }
    await cell(page, all - 1, 'name')
      .getByText(`Lead ${all - 1}`)
      .waitFor();
    await page.getByText('1,600 in all').waitFor();
    // The first rows are not in memory any more, and are loaded again where they were.
    const again = page.waitForResponse((response) => response.url().endsWith('/lead/query'));
    await page.keyboard.press('Control+Home');
    await again;
    await cell(page, 0, 'name').getByText('Lead 0', { exact: true }).waitFor();
    for (let at = 0; at < 5; at += 1) await page.keyboard.press('PageDown');
    const [row] = (await focused(page)).split(' ');
    await cell(page, Number(row), 'name').getByText(`Lead ${row}`, { exact: true }).waitFor();
    expect(app.complaints).toEqual([]);
  },
  400_000,
);

inBrowser(
  'rows that others add keep the cursor on its entity, and their changes are shown',
  async () => {
    const [, second] = await createLeads(app.owner, [lead('Ana'), lead('Luis')]);
    const page = await app.open('/data/lead');
    await cell(page, 0, 'name').getByText('Luis').click();
    expect(await focused(page)).toBe('0 1');
    await createLeads(app.owner, [lead('New')]);
    await app.owner.patch(`/v1/data/lead/${second}`, { data: { name: 'Luis Soto' } });
    await cell(page, 1, 'name').getByText('Luis Soto').waitFor({ timeout: 20_000 });
    await page.keyboard.press('F2');
    await page.keyboard.type('!');
    await page.keyboard.press('Enter');
    await until(async () => (await storedLeads(app.owner))[1]!.name === 'Luis Soto!');
    expect(app.complaints).toEqual([]);
  },
);
