import { buffer } from 'node:stream/consumers';
import type { Download, Page } from 'playwright-core';
import { inBrowser, useConsole } from './console-kit';
import { createLeads, pushLeads, removeLeads, storedLeads } from './leads';

/** Files in and out, and changes of many entities. */
const app = useConsole();
beforeAll(() => pushLeads(app.owner));
beforeEach(() => removeLeads(app.owner));

const choose = (page: Page, name: string, content: string | Buffer) =>
  page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });

const contentOf = async (download: Download): Promise<string> =>
  (await buffer(await download.createReadStream())).toString();

async function exported(page: Page, format: string): Promise<string> {
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(format).check();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('button', { name: 'Export' }).click(),
  ]);
  return contentOf(download);
}

inBrowser(
  'what the filter matches is exported, and an import of the export changes the same entities',
  async () => {
    const leads = Array.from({ length: 250 }, (_, at) => ({
      name: at === 7 ? '=HYPERLINK("x")' : `Lead ${at}`,
      score: at,
    }));
    await createLeads(app.owner, leads);
    const page = await app.open(
      '/data/lead?filters=[["score","lt","200"]]&sort=score&direction=asc',
    );
    await page.getByText('200 entities').waitFor();
    const lines = (await exported(page, 'JSON lines, for programs')).trim().split('\n');
    expect(
      lines.map((line) => (JSON.parse(line) as { data: { score: number } }).data.score),
    ).toEqual(leads.slice(0, 200).map(({ score }) => score));
    const csv = await exported(page, 'CSV, for spreadsheets');
    expect(csv.split('\n')[0]).toBe(
      '\uFEFFid,status,createdAt,updatedAt,data.name,data.tier,data.score,data.visits,data.vip,data.born,data.shop,data.tags,data',
    );
    expect(csv).toContain(`,"'=HYPERLINK(""x"")",`);
    await page.getByText('200 entities in').first().waitFor();

    await page.getByRole('button', { name: 'Import' }).click();
    await choose(page, 'leads.csv', csv.replace('Lead 3,', 'Lead three,'));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('Would create 0, change 200, and refuse 0.').waitFor();
    await dialog.getByRole('button', { name: 'Import 200 rows' }).click();
    await page.getByText('0 created, 200 changed, 0 refused.').waitFor();
    const stored = await storedLeads(app.owner);
    expect(stored).toHaveLength(250);
    expect(stored[3]).toEqual({ name: 'Lead three', score: 3 });
    expect(stored[7]).toEqual({ name: '=HYPERLINK("x")', score: 7 });
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a table of a spreadsheet gets columns, a dry run names the lines that would be refused, and they are left out',
  async () => {
    const page = await app.open('/data/lead?view=import');
    const csv =
      'Nombre;Precio;tier;Notas\r\nTent;"1.234,5";gold;"two\r\nlines"\r\nMat;cheap;gold;\r\nLamp;5;bronze;\r\n;6;gold;x\r\nCup;7;silver;y\r\n';
    await choose(page, 'precios.csv', csv);
    const dialog = page.getByRole('dialog');
    await dialog.getByText('5 rows.').waitFor();
    await dialog.getByLabel('Field of the column Nombre').selectOption({ label: 'name (string)' });
    await dialog.getByLabel('Field of the column Precio').selectOption({ label: 'score (number)' });
    await dialog.getByLabel('Field of the column Notas').selectOption({ label: 'Not imported' });
    await dialog.getByLabel('How numbers are written').selectOption(',');
    await dialog.getByText('score: must be a number').waitFor();
    await dialog.getByRole('button', { name: 'Dry run' }).click();
    await dialog.getByText('Would create 2, change 0, and refuse 3.').waitFor();
    expect(
      await dialog
        .getByRole('region', { name: /^Dry run/ })
        .getByRole('listitem')
        .allInnerTexts(),
    ).toEqual([
      expect.stringMatching(/^Line 4\s+score: must be a number$/),
      expect.stringMatching(/^Line 5\s+must be one of "gold", "silver"$/),
      expect.stringMatching(/^Line 6\s+is required$/),
    ]);
    expect(await storedLeads(app.owner)).toEqual([]);
    await dialog.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByText('2 created, 0 changed, 3 refused.').waitFor();
    expect(await storedLeads(app.owner)).toEqual([
      { name: 'Tent', score: 1234.5, tier: 'gold' },
      { name: 'Cup', score: 7, tier: 'silver' },
    ]);
    await page.getByRole('button', { name: '3 refused: show why' }).click();
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Line 6/ })
      .waitFor();
    await page.keyboard.press('Escape');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the refused lines' }).click(),
    ]);
    expect(await contentOf(download)).toContain('4,score: must be a number\n');
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'a file of a spreadsheet in UTF-16 is read, and one that is no text is refused',
  async () => {
    const page = await app.open('/data/lead?view=import');
    await choose(page, 'leads.csv', Buffer.from('\uFEFFname,score\nÑandú,7\n', 'utf16le'));
    await page.getByRole('dialog').getByText('Ñandú').first().waitFor();
    await choose(page, 'picture.csv', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]));
    await page.getByText('This is not a text file.').waitFor();
    expect(await page.getByRole('button', { name: /^Import \d/ }).count()).toBe(0);
    expect(app.complaints).toEqual([]);
  },
);

inBrowser(
  'an import whose answer is lost continues after a reload, and no line is stored twice',
  async () => {
    const page = await app.open('/data/lead?view=import');
    const csv = `name,score\n${Array.from({ length: 1_200 }, (_, at) => `Lead ${at},${at}`).join('\n')}\n`;
    let sent = 0;
    const lose = async (route: {
      fetch: () => Promise<unknown>;
      abort: () => Promise<void>;
      fallback: () => Promise<void>;
    }) => {
      sent += 1;
      if (sent === 1) return route.fallback();
      // The second batch is stored, and its answer is lost each time.
      if (sent === 2) await route.fetch();
      return route.abort();
    };
    await page.route('**/v1/data/lead/bulk', lose);
    await choose(page, 'leads.csv', csv);
    await page.getByRole('button', { name: 'Import 1,200 rows' }).click();
    await page.getByText('Waiting for the server').waitFor();
    expect(await storedLeads(app.owner)).toHaveLength(1_000);
    page.once('dialog', (dialog) => void dialog.accept());
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('500 of 1,200 rows are done').waitFor();
    await page.unroute('**/v1/data/lead/bulk');
    await page.reload();
    await page.getByRole('button', { name: 'Import' }).click();
    await choose(page, 'leads.csv', csv);
    await page.getByText(/of 1,200 rows of this file were imported/).waitFor();
    await page.getByRole('button', { name: /^Continue at row/ }).click();
    await page.getByText('1,200 created, 0 changed, 0 refused.').waitFor();
    const names = (await storedLeads(app.owner)).map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: 1_200 }, (_, at) => `Lead ${at}`));
  },
  200_000,
);

inBrowser(
  'all that match are changed in the background, and what was refused is named',
  async () => {
    await createLeads(
      app.owner,
      Array.from({ length: 620 }, (_, at) => ({ name: `Lead ${at}`, score: at })),
    );
    const page = await app.open('/data/lead?filters=[["score","gte","10"]]');
    await page.getByText('610 entities').waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await page.getByText('100 selected').waitFor();
    await page.getByRole('button', { name: 'Select all 610 that match' }).click();
    await page.getByText('All 610 that match are selected').waitFor();
    await page.getByRole('button', { name: 'Set a field' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Field').selectOption('tier');
    await dialog.getByLabel('Value').selectOption('silver');
    await dialog.getByRole('button', { name: 'Change 610' }).click();
    await page.getByText('610 changed').waitFor();
    expect(await storedLeads(app.owner, { filters: { 'data.tier': 'silver' } })).toHaveLength(610);

    await page.getByLabel('Select all loaded rows').check();
    await page.getByRole('button', { name: 'Select all 610 that match' }).click();
    await page.getByRole('button', { name: 'Delete 610 entities' }).click();
    await dialog.getByText('Delete 610 of Lead? They can be restored.').waitFor();
    await dialog.getByRole('button', { name: 'Delete 610 entities' }).click();
    // It continues while another screen is open.
    await page.keyboard.press('g');
    await page.keyboard.press('x');
    await page.getByText('610 deleted').waitFor();
    expect(await storedLeads(app.owner)).toHaveLength(10);

    await page.goto(
      `${app.base()}/data/lead?status=deleted&filters=[["score","gte","600"],["tier","eq","silver"]]`,
    );
    await page.getByText('20 entities').waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await page.getByRole('button', { name: 'Restore 20' }).click();
    await page.getByText('20 restored').waitFor();
    expect(await storedLeads(app.owner)).toHaveLength(30);

    // A value that the server refuses: the name is required.
    await page.goto(`${app.base()}/data/lead?filters=[["score","gte","610"]]`);
    await page.getByText('10 entities').waitFor();
    await page.getByLabel('Select all loaded rows').check();
    await page.getByRole('button', { name: 'Set a field' }).click();
    await dialog.getByRole('button', { name: 'Change 10' }).click();
    await page.getByRole('button', { name: '10 refused: show why' }).click();
    await page.getByRole('dialog').getByText('is required').first().waitFor();
    expect(app.complaints).toEqual([]);
  },
  200_000,
);
