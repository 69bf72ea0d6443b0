import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  listedNames,
  listedOnMain,
  migrationNames,
  nextStamp,
  orderProblems,
} from './migration-order.mjs';

test('each migration sorts after those that were added before it', () => {
  const migrations = { names: migrationNames(), listed: listedNames(), onMain: listedOnMain() };
  assert.ok(migrations.names.length > 0);
  assert.deepEqual(orderProblems(migrations), []);
});

const old = ['20261125100000_threads', '20261130100000_expand_labels'];
const early = '20261128100000_expand_notes';

test('a migration that is added with an earlier time than an existing one is refused', () => {
  const names = [...old, early].sort();
  const [missing] = orderProblems({ names, listed: old, onMain: old });
  assert.match(missing, /20261128100000_expand_notes is missing in prisma\/migration-order.txt/);
  const [unsorted] = orderProblems({ names, listed: [...old, early], onMain: old });
  assert.match(
    unsorted,
    /expand_notes was added after 20261130100000_expand_labels and does not sort after it/,
  );
  const [moved] = orderProblems({ names, listed: names, onMain: old });
  assert.match(
    moved,
    /line 2 of prisma\/migration-order.txt is 20261130100000_expand_labels on main: only append/,
  );
});

test('a migration that was renamed or removed is refused', () => {
  const names = [old[0], '20261130100001_expand_labels'];
  const problems = orderProblems({ names, listed: old, onMain: [] });
  assert.match(problems.join('\n'), /20261130100001_expand_labels is missing/);
  assert.match(problems.join('\n'), /20261130100000_expand_labels is in .* and has no folder/);
});

test('a migration at the end is accepted', () => {
  const listed = [...old, '20261130100001_expand_notes'];
  assert.deepEqual(orderProblems({ names: listed, listed, onMain: old }), []);
});

test('a baseline replaces the whole list, and nothing else replaces a part of it', () => {
  const listed = ['20261128000000_baseline', '20261130100001_expand_notes'];
  assert.deepEqual(orderProblems({ names: listed, listed, onMain: old }), []);
  const renamed = ['20261125100000_talks', old[1]];
  const [problem] = orderProblems({ names: renamed, listed: renamed, onMain: old });
  assert.match(problem, /line 1 of .* is 20261125100000_threads on main/);
  const changed = [listed[0], '20261130100002_expand_labels'];
  const [moved] = orderProblems({ names: changed, listed: changed, onMain: listed });
  assert.match(moved, /line 2 of .* is 20261130100001_expand_notes on main/);
});

test('a new migration is dated now, or after the newest one when that is dated in the future', () => {
  assert.equal(nextStamp(old, new Date('2026-12-01T09:30:05Z')), '20261201093005');
  assert.equal(nextStamp(old, new Date('2026-11-28T09:30:05Z')), '20261130100001');
  assert.equal(nextStamp([], new Date('2026-11-28T09:30:05Z')), '20261128093005');
});
