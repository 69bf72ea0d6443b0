import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readable } from './log-lines.mjs';

test('a JSON line is printed as time, level, message and fields', () => {
  const line = {
    level: 'info',
    time: '2026-01-02T03:04:05.678Z',
    service: 'data',
    msg: 'request',
    status: 200,
    ids: [1],
  };
  assert.equal(readable(JSON.stringify(line)), '03:04:05.678 INFO  request status=200 ids=[1]');
});

test('the stack of an error is printed on separate lines', () => {
  const line = {
    level: 'error',
    time: '2026-01-02T03:04:05.678Z',
    msg: 'failed',
    err: { stack: 'Error: x\n    at y' },
  };
  assert.equal(readable(JSON.stringify(line)), '03:04:05.678 ERROR failed\nError: x\n    at y');
});

test('other lines are printed unchanged', () => {
  assert.equal(readable('{ not json'), '{ not json');
  assert.equal(readable('plain'), 'plain');
});
