import { ParleyApiError } from '@parley/client';
import {
  type Progress,
  type Work,
  currentWorks,
  dismissWork,
  startWork,
  stopWork,
  subscribeToWorks,
} from './work';

let started: Work;
/** Starts a work, and waits until its promise has settled. */
async function runWork(...[title, run, options]: Parameters<typeof startWork>): Promise<Work> {
  startWork(title, run, options);
  started = currentWorks().at(-1)!;
  await untilEnded();
  return now();
}
const now = (): Work => currentWorks().find(({ id }) => id === started.id)!;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
async function untilEnded(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}
const stopped = ({ signal }: Progress) =>
  new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );

test('a work shows how far it is, that it waits, and how it ended', async () => {
  const seen: Partial<Work>[] = [];
  const stop = subscribeToWorks(() => {
    const { done, total, state } = currentWorks().at(-1)!;
    seen.push({ done, total, state });
  });
  const work = await runWork('Import', async (progress) => {
    progress.advance(1, 4);
    progress.wait(true);
    progress.wait(false);
    progress.advance(4);
    return { message: '4 created', actions: [{ text: 'Save', run: () => undefined }] };
  });
  stop();
  expect(seen.map(({ done, total, state }) => [done, total, state])).toEqual([
    [0, undefined, 'running'],
    [1, 4, 'running'],
    [1, 4, 'waiting'],
    [1, 4, 'running'],
    [4, 4, 'running'],
    [4, 4, 'succeeded'],
  ]);
  expect(work).toMatchObject({
    title: 'Import',
    message: '4 created',
    actions: [{ text: 'Save' }],
  });
});

test('a work that was stopped says how far it was', async () => {
  await runWork('Import', stopped, { onStopped: () => ({ message: '3 of 9', actions: [] }) });
  expect(now().state).toBe('running');
  stopWork(started.id);
  await untilEnded();
  expect(now()).toMatchObject({ state: 'stopped', message: '3 of 9' });
});

test('a work that failed says why, and offers what a stopped one offers', async () => {
  const failure = new ParleyApiError(403, { error: 'This needs the permission "write"' });
  const onStopped = () => ({
    message: 'unused',
    actions: [{ text: 'Continue', run: () => undefined }],
  });
  const work = await runWork('Import', () => Promise.reject(failure), { onStopped });
  expect(work).toMatchObject({
    state: 'failed',
    message: failure.message,
    actions: [{ text: 'Continue' }],
  });
});

test('stopping a work that has ended changes nothing', async () => {
  const work = await runWork('Import', async () => ({ message: 'done' }));
  stopWork(work.id);
  await untilEnded();
  expect(now().state).toBe('succeeded');
});

test('the first 1,000 refused items are kept, and all are counted', async () => {
  const work = await runWork('Import', async ({ refuse, refused }) => {
    for (let line = 1; line <= 1_500; line += 1) refuse({ item: String(line), reason: 'no' });
    return { message: String(refused()) };
  });
  expect(work.message).toBe('1500');
  expect(work.refusedCount).toBe(1_500);
  expect(work.refused).toHaveLength(1_000);
  expect(work.refused.at(-1)).toEqual({ item: '1000', reason: 'no' });
});

test('works run beside each other, and each is taken from the page alone', async () => {
  const first = await runWork('A', async () => ({ message: 'a' }));
  const second = await runWork('B', async () => ({ message: 'b' }));
  dismissWork(first.id);
  expect(currentWorks().some(({ id }) => id === first.id)).toBe(false);
  expect(now()).toBe(second);
});
