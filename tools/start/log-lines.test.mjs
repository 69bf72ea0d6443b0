import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readable, shortLine } from './log-lines.mjs';

const local = new Date('2026-01-02T03:04:05.678Z').toTimeString().slice(0, 8);

test('a JSON line is printed as time, level, message and fields', () => {
  const line = {
    level: 'info',
    time: '2026-01-02T03:04:05.678Z',
    service: 'data',
    msg: 'request',
    status: 200,
    ids: [1],
  };
  assert.equal(readable(JSON.stringify(line)), `${local}.678 INFO  request status=200 ids=[1]`);
});

test('the stack of an error is printed on separate lines', () => {
  const line = {
    level: 'error',
    time: '2026-01-02T03:04:05.678Z',
    msg: 'failed',
    err: { stack: 'Error: x\n    at y' },
  };
  assert.equal(readable(JSON.stringify(line)), `${local}.678 ERROR failed\nError: x\n    at y`);
});

test('control characters and marks of direction are escaped in messages, names of fields, values, errors and paths', () => {
  const hostile = 'x\u001b]0;t\u0007\u009b1m\u202egnp\u2066';
  const escaped = 'x\\u001b]0;t\\u0007\\u009b1m\\u202egnp\\u2066';
  const line = {
    level: 'info',
    msg: hostile,
    [hostile]: hostile,
    more: { [hostile]: 1 },
    err: { stack: hostile },
  };
  const shown = readable(JSON.stringify(line));
  assert.equal(shown.split(escaped).length - 1 >= 4, true);
  assert.doesNotMatch(shown, /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  const request = {
    level: 'info',
    time: '2026-01-02T03:04:05.678Z',
    msg: 'request',
    method: 'GET',
    status: 200,
  };
  assert.match(
    shortLine('gateway', JSON.stringify({ ...request, path: hostile }), undefined),
    /\\u202egnp/,
  );
});

test('other lines are printed unchanged', () => {
  assert.equal(readable('{ not json'), '{ not json');
  assert.equal(readable('plain'), 'plain');
});

test('npm start prints one short line for each request, warnings, errors and plain text', () => {
  const time = '2026-01-02T03:04:05.678Z';
  const request = {
    level: 'info',
    time,
    msg: 'request',
    method: 'POST',
    path: '/v1/agents/shop/chat',
    status: 200,
  };
  const line = (more) => JSON.stringify({ ...request, durationMs: 12.3, ...more });
  assert.equal(
    shortLine('gateway', line({}), undefined),
    `${local} POST /v1/agents/shop/chat 200 12 ms`,
  );
  assert.equal(shortLine('gateway', line({}), 40), `${local} POST /v1/agen…op/chat 200 12 ms`);
  assert.equal(shortLine('gateway', line({}), 40).length, 40);
  assert.equal(shortLine('data', line({})), null);
  assert.equal(shortLine('worker', line({ msg: 'job', method: undefined })), null);
  assert.match(
    shortLine('worker', line({ level: 'warn', msg: 'slow' })),
    /^worker +\S+ WARN {2}slow/,
  );
  assert.equal(shortLine('chat', 'text \u001b[2J'), 'chat           text \\u001b[2J');
});
