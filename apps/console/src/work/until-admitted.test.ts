import { ParleyApiError } from '@parley/client';
import { untilAdmitted } from './until-admitted';
import type { Progress } from './work';

beforeEach(() => jest.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
afterEach(() => jest.useRealTimers());

/**
 * Runs a call that fails with these errors, one after the other, and records the pauses
 * in milliseconds.
 */
function attempt(errors: unknown[]) {
  const controller = new AbortController();
  const waits: boolean[] = [];
  const calledAtMs: number[] = [];
  const progress = {
    signal: controller.signal,
    wait: (isWaiting) => waits.push(isWaiting),
  } as Partial<Progress> as Progress;
  const left = [...errors];
  const result = untilAdmitted(async () => {
    calledAtMs.push(Date.now());
    if (left.length > 0) throw left.shift();
    return 'admitted';
  }, progress).catch((error: unknown) => error);
  return {
    result,
    waits,
    controller,
    calls: () => calledAtMs.length,
    pauses: () => pausesOf(calledAtMs),
  };
}
const pausesOf = (times: readonly number[]) =>
  times.slice(1).map((at, index) => at - times[index]!);
const errorOf = (status: number, body: object = {}) => new ParleyApiError(status, body);
const limitedFor = (ms: number) => errorOf(429, { retryAt: Date.now() + ms });

test('a call that is admitted at once does not wait', async () => {
  const { result, waits } = attempt([]);
  expect(await result).toBe('admitted');
  expect(waits).toEqual([]);
});

test('a limited call is repeated when the server says, as often as it takes', async () => {
  const { result, pauses, waits } = attempt(Array.from({ length: 20 }, () => limitedFor(30_000)));
  await jest.runAllTimersAsync();
  expect(await result).toBe('admitted');
  expect(pauses()[0]).toBe(30_000);
  expect(pauses()).toHaveLength(20);
  expect(waits.slice(0, 4)).toEqual([true, false, true, false]);
});

test.each([
  ['far behind the server', 5 * 3_600_000, 60_000],
  ['ahead of the server', -5 * 3_600_000, 1_000],
])(
  'a device whose clock is %s waits no longer than a window of the limit',
  async (_name, retryInMs, pauseMs) => {
    const { result, pauses } = attempt([limitedFor(retryInMs)]);
    await jest.runAllTimersAsync();
    expect(await result).toBe('admitted');
    expect(pauses()).toEqual([pauseMs]);
  },
);

test('a server that is away gets six more calls, with longer pauses', async () => {
  const away = errorOf(503);
  const { result, pauses } = attempt(Array.from({ length: 9 }, () => away));
  await jest.runAllTimersAsync();
  expect(await result).toBe(away);
  expect(pauses()).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
});

test('limits in between do not count as repetitions of a server that is away', async () => {
  const errors = Array.from({ length: 6 }, () => [errorOf(0), limitedFor(0)]).flat();
  const { result, calls } = attempt(errors);
  await jest.runAllTimersAsync();
  expect(await result).toBe('admitted');
  expect(calls()).toBe(13);
});

test('a request that the server is still busy with is repeated', async () => {
  const { result } = attempt([errorOf(409, { code: 'idempotency_in_progress' })]);
  await jest.runAllTimersAsync();
  expect(await result).toBe('admitted');
});

test.each([errorOf(400), errorOf(409, { code: 'conflict' }), errorOf(500), new TypeError('a bug')])(
  'what another call would not change is thrown at once: %s',
  async (error) => {
    const { result, calls } = attempt([error]);
    expect(await result).toBe(error);
    expect(calls()).toBe(1);
  },
);

test('a work that is stopped ends its pause', async () => {
  const { result, controller, calls } = attempt([limitedFor(60_000)]);
  await jest.advanceTimersByTimeAsync(10);
  controller.abort(new Error('stopped'));
  expect(await result).toMatchObject({ message: 'stopped' });
  expect(calls()).toBe(1);
});

test('a work that was stopped before sends nothing', async () => {
  const controller = new AbortController();
  controller.abort(new Error('stopped'));
  const call = jest.fn();
  await expect(untilAdmitted(call, { signal: controller.signal } as Progress)).rejects.toThrow(
    'stopped',
  );
  expect(call).not.toHaveBeenCalled();
});
