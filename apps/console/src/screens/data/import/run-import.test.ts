import { type Answer, clientOf } from '../../../testing/answers';
import type { Progress } from '../../../work/work';
import type { FileRow } from './messages';
import { type ImportState, type RefusedRow, runImport } from './run-import';

const start: ImportState = { importId: 'i1', next: 0, created: 0, updated: 0, refused: 0 };

interface Sent {
  operations: { action: string; id?: string; data: { text: string }; status?: string }[];
  dryRun?: boolean;
}

const row = (at: number, text = String(at)): FileRow => ({
  line: at + 2,
  ok: true,
  entity: { data: { text } },
});
const wrong = (at: number): FileRow => ({ line: at + 2, ok: false, problem: { expected: 'json' } });

/** A server that refuses the text `no`. */
const answerTo = ({ operations }: Sent): Answer => ({
  body: {
    results: operations.map(({ data }) =>
      data.text === 'no' ? { ok: false, error: 'Refused', code: 'x' } : { ok: true, id: 'e' },
    ),
  },
});

/** Imports rows, and records what was reported. */
function importOf(rows: FileRow[], answer: (body: Sent, index: number) => Answer = answerTo) {
  const { client, sent } = clientOf(({ body }, index) => answer(body as Sent, index));
  const controller = new AbortController();
  const steps: ImportState[] = [];
  const refused: RefusedRow[] = [];
  const advanced: number[] = [];
  const progress: Progress = {
    signal: controller.signal,
    advance: (done) => advanced.push(done),
    wait: () => undefined,
    refuse: () => undefined,
    refused: () => 0,
  };
  const run = (state = start, isDryRun = false) =>
    runImport(
      {
        client,
        type: 'order',
        file: {
          name: 'orders.csv',
          close: () => undefined,
          read: async (from, count) => rows.slice(from, from + count),
        },
        rowCount: rows.length,
        reading: { columns: [], schema: {}, isGuarded: false, decimal: '.' },
        isDryRun,
        explain: ({ expected }) => `not ${expected}`,
        onStep: (state, more) => {
          steps.push(state);
          refused.push(...more);
        },
      },
      state,
      progress,
    );
  return {
    run,
    sent,
    bodies: () => sent.map(({ body }) => body as Sent),
    steps,
    refused,
    advanced,
    controller,
  };
}

test('an empty file sends nothing', async () => {
  const { run, sent } = importOf([]);
  expect(await run()).toEqual(start);
  expect(sent).toEqual([]);
});

test('rows are sent at most 500 at once, each request with a key that names its rows', async () => {
  const { run, sent, bodies, advanced } = importOf(
    Array.from({ length: 1_100 }, (_, at) => row(at)),
  );
  expect(await run()).toEqual({ ...start, next: 1_100, created: 1_100 });
  expect(bodies().map(({ operations }) => operations.length)).toEqual([500, 500, 100]);
  expect(sent.map(({ key }) => key)).toEqual([
    'import-i1-0-500',
    'import-i1-500-500',
    'import-i1-1000-100',
  ]);
  expect(advanced).toEqual([500, 1_000, 1_100]);
});

test('a row with an id changes that entity, any other one is created', async () => {
  const changed: FileRow = {
    line: 3,
    ok: true,
    entity: { id: 'ent_1', data: { text: 'a' }, status: 'paid' },
  };
  const { run, bodies } = importOf([row(0), changed]);
  expect(await run()).toMatchObject({ created: 1, updated: 1 });
  expect(bodies()[0]!.operations).toEqual([
    { action: 'create', data: { text: '0' } },
    { action: 'update', id: 'ent_1', data: { text: 'a' }, status: 'paid' },
  ]);
});

test('rows that the file or the server refuses are reported with their lines, in order', async () => {
  const { run, refused, bodies } = importOf([row(0), wrong(1), row(2, 'no'), row(3), wrong(4)]);
  expect(await run()).toEqual({ ...start, next: 5, created: 2, refused: 3 });
  expect(refused).toEqual([
    { line: 3, reason: 'not json' },
    { line: 4, reason: 'Refused' },
    { line: 6, reason: 'not json' },
  ]);
  expect(bodies()[0]!.operations).toHaveLength(3);
});

test('a file of wrong rows only sends nothing, and comes to its end', async () => {
  const { run, sent } = importOf(Array.from({ length: 700 }, (_, at) => wrong(at)));
  expect(await run()).toEqual({ ...start, next: 700, refused: 700 });
  expect(sent).toEqual([]);
});

test('large rows are sent in smaller requests, and none is left out', async () => {
  const large = 'x'.repeat(3 * 1_048_576);
  const rows = [wrong(0), row(1, large), wrong(2), row(3, large), row(4, 'no'), wrong(5)];
  const { run, refused, steps, sent } = importOf(rows);
  expect(await run()).toEqual({ ...start, next: 6, created: 2, refused: 4 });
  expect(sent).toHaveLength(2);
  expect(steps.map(({ next }) => next)).toEqual([3, 6]);
  expect(refused.map(({ line }) => line)).toEqual([2, 4, 6, 7]);
});

test('an import that was stopped continues at its next row, with the same key as the request that was lost', async () => {
  const rows = Array.from({ length: 1_200 }, (_, at) => row(at));
  const first = importOf(rows, (body, index) =>
    index === 1 ? { status: 400, body: { error: 'Refused' } } : answerTo(body),
  );
  await expect(first.run()).rejects.toThrow('Refused');
  const [stopped] = first.steps;
  const second = importOf(rows);
  expect(await second.run(stopped)).toEqual({ ...start, next: 1_200, created: 1_200 });
  expect(second.sent[0]!.key).toBe(first.sent[1]!.key);
});

test('a stop is noticed between two requests, so that what was sent is counted', async () => {
  const stopping = importOf(
    Array.from({ length: 1_200 }, (_, at) => row(at)),
    (body) => {
      stopping.controller.abort(new Error('stopped'));
      return answerTo(body);
    },
  );
  await expect(stopping.run()).rejects.toThrow('stopped');
  expect(stopping.sent).toHaveLength(1);
  expect(stopping.steps).toEqual([{ ...start, next: 500, created: 500 }]);
});

test('a dry run stores nothing, so it may be repeated', async () => {
  const { run, sent, bodies } = importOf([row(0), row(1, 'no')]);
  expect(await run(start, true)).toMatchObject({ created: 1, refused: 1 });
  expect(bodies()[0]!.dryRun).toBe(true);
  expect(sent[0]!.key).not.toMatch(/^import-/);
});

test('the state that an import continues from is not changed', async () => {
  const state = { ...start };
  await importOf([row(0)]).run(state);
  expect(state).toEqual(start);
});
