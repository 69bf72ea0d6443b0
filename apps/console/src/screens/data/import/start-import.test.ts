import { setLanguage } from '../../../language';
import { type Answer, clientOf } from '../../../testing/answers';
import { browserStorage } from '../../../testing/browser-storage';
import { currentWorks } from '../../../work/work';
import { findRecord } from './import-record';
import type { FileRow } from './messages';
import { startImport } from './start-import';
import { importCatalog } from './texts';

const texts = importCatalog.en;
beforeEach(() => {
  setLanguage('en');
  Object.defineProperty(globalThis, 'localStorage', {
    value: browserStorage(),
    configurable: true,
  });
});

const rows: FileRow[] = Array.from({ length: 1_200 }, (_, at) => ({
  line: at + 2,
  ok: true,
  entity: { data: { at } },
}));
const stored = (body: unknown): Answer => ({
  body: {
    results: (body as { operations: unknown[] }).operations.map(() => ({ ok: true, id: 'e' })),
  },
});
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await turn();
}
const work = () => currentWorks().at(-1)!;

async function begin(answer: (body: unknown, index: number) => Answer) {
  const { client, sent } = clientOf(({ body }, index) => answer(body, index));
  const close = jest.fn();
  const onEnd = jest.fn();
  const file = {
    name: 'orders.csv',
    close,
    read: async (from: number, count: number) => rows.slice(from, from + count),
  };
  const reading = { columns: [], schema: {}, isGuarded: false, decimal: '.' as const };
  const given = {
    client,
    type: 'order',
    file,
    rowCount: rows.length,
    reading,
    explain: () => 'wrong',
  };
  const from = { importId: 'i1', next: 0, created: 0, updated: 0, refused: 0 };
  startImport(given, from, 'record', texts, 'Orders', onEnd);
  await settle();
  return { sent, close, onEnd };
}

test('an import says how it ended, and closes its file', async () => {
  const { close, onEnd } = await begin(stored);
  expect(work()).toMatchObject({
    title: texts.importing('orders.csv', 'Orders'),
    state: 'succeeded',
    message: texts.done('1,200', '0', '0'),
    done: 1_200,
    actions: [],
  });
  expect(close).toHaveBeenCalledTimes(1);
  expect(onEnd).toHaveBeenCalledTimes(1);
  expect(findRecord('record')).toMatchObject({ next: 1_200, created: 1_200 });
});

test('an import that failed says how far it was, keeps its file, and continues there', async () => {
  const refusal: Answer = { status: 403, body: { error: 'Not allowed' } };
  const { sent, close } = await begin((body, index) => (index === 1 ? refusal : stored(body)));
  expect(work()).toMatchObject({ state: 'failed', message: 'Not allowed', done: 500 });
  expect(findRecord('record')).toMatchObject({ next: 500 });
  expect(close).not.toHaveBeenCalled();
  work().actions![0]!.run();
  await settle();
  expect(work()).toMatchObject({ state: 'succeeded', message: texts.done('1,200', '0', '0') });
  expect(sent.map(({ key }) => key)).toEqual([
    'import-i1-0-500',
    'import-i1-500-500',
    'import-i1-500-500',
    'import-i1-1000-200',
  ]);
  expect(close).toHaveBeenCalledTimes(1);
});

test('refused lines are shown, and can be saved at the end, also those from before it was continued', async () => {
  const failure: Answer = { status: 403, body: { error: 'Not allowed' } };
  const refuseFirst = (body: unknown): Answer => {
    const { operations } = body as { operations: unknown[] };
    const results = operations.map((_, at) =>
      at === 0 ? { ok: false, error: 'No', code: 'x' } : { ok: true, id: 'e' },
    );
    return { body: { results } };
  };
  await begin((body, index) => (index === 1 ? failure : refuseFirst(body)));
  expect(work().refused).toEqual([{ item: texts.line('2'), reason: 'No' }]);
  expect(work().actions!.map(({ text }) => text)).toEqual([texts.goOn, texts.saveRefused]);
  work().actions![0]!.run();
  await settle();
  expect(work()).toMatchObject({ message: texts.done('1,197', '0', '3') });
  expect(work().actions!.map(({ text }) => text)).toEqual([texts.saveRefused]);
});
