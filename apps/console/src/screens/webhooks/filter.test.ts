import { inputOf, replayOf } from './filter';

const nowMs = Date.UTC(2026, 3, 5, 12);

test('a range of the address ends now, and a day has 24 hours', () => {
  expect(inputOf({ since: 'hour' }, nowMs).since).toBe(Date.UTC(2026, 3, 5, 11));
  expect(inputOf({ since: 'day' }, nowMs).since).toBe(Date.UTC(2026, 3, 4, 12));
  expect(inputOf({ since: 'week' }, nowMs).since).toBe(Date.UTC(2026, 2, 29, 12));
});

test.each([undefined, '', 'month', 'constructor', '__proto__'])('the range %j is none', (since) => {
  expect(inputOf({ provider: 'flow', status: 'failed', since }, nowMs)).toEqual({
    provider: 'flow',
    status: 'failed',
    since: undefined,
  });
});

test.each(['processed', 'ignored', 'failed'])(
  'deliveries that are %s are replayed until now',
  (status) => {
    expect(replayOf({ provider: 'kapso', status, since: 'hour' }, nowMs)).toEqual({
      provider: 'kapso',
      status,
      since: nowMs - 3_600_000,
      until: nowMs,
    });
  },
);

test.each([undefined, 'received', 'rejected', ''])(
  'deliveries of the status %j are not replayed together',
  (status) => {
    expect(replayOf({ status }, nowMs)).toBeNull();
  },
);
