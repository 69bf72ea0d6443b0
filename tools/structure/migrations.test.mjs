import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { problemsOf } from './migration-rules.mjs';

const folder = join(root, 'prisma', 'migrations');
const names = readdirSync(folder).filter((name) => name !== 'migration_lock.toml');

test('migrations can be applied while the previous version serves requests', () => {
  assert.ok(names.length > 0);
  for (const name of names) {
    const sql = readFileSync(join(folder, name, 'migration.sql'), 'utf8');
    assert.deepEqual(problemsOf(name, sql), [], name);
  }
});

const cases = [
  ['labels', 'create table labels (id int)', /neither expand_ nor contract_/],
  ['expand_labels', 'create table "labels" (id int);\ncreate index "a" on "labels"("id");'],
  ['expand_labels', 'alter table "threads" add column "labels" text[] not null default \'{}\';'],
  [
    'expand_labels',
    'alter table "threads" add column "labels" text[] not null;',
    /previous version inserts no value/,
  ],
  [
    'expand_labels',
    'alter table "threads" drop column "labels";',
    /not an expansion: alter table threads drop/,
  ],
  [
    'expand_labels',
    'alter table threads add column labels text, drop column b;',
    /not an expansion/,
  ],
  ['expand_labels', 'alter table "threads" rename to "talks";', /not an expansion/],
  ['expand_labels', 'update threads set labels = 1;', /not an expansion/],
  ['contract_labels', 'alter table "threads" drop column "labels";'],
  [
    'expand_labels',
    'alter table threads add column a text; alter table executions add column a text;',
    /deadlock: threads, executions/,
  ],
  [
    'expand_labels',
    'create table labels (id int); alter table labels add constraint a foreign key (id) references threads (id);',
  ],
  [
    'expand_labels',
    'create index "a" on "threads"("labels");',
    /locks the table while it builds an index/,
  ],
  [
    'contract_labels',
    'create unique index a on threads (labels);',
    /locks the table while it builds an index/,
  ],
  [
    'expand_labels',
    '-- Fast\nDROP INDEX CONCURRENTLY IF EXISTS "a";\nCREATE UNIQUE INDEX CONCURRENTLY "a" ON "threads"("labels");',
  ],
  [
    'expand_labels',
    'create index concurrently "a" on "threads"("labels");',
    /cannot be applied again after a failure/,
  ],
  [
    'expand_labels',
    'drop index concurrently if exists a; create index concurrently a on threads (b); create table labels (id int);',
    /migration of their own/,
  ],
  ['expand_labels', 'alter table threads add constraint a check (b > 0);', /without "not valid"/],
  ['expand_labels', 'alter table threads add constraint a check (b > 0) not valid;'],
  [
    'expand_labels',
    'alter table threads add constraint a check (b > 0) not valid; alter table threads validate constraint a;',
    /checks all rows in the transaction/,
  ],
  [
    'expand_labels',
    'create or replace function f() returns int language plpgsql as $$ begin delete from threads; end $$;',
  ],
];

for (const [name, sql, expected] of cases)
  test(`${expected ? 'refuses' : 'accepts'} ${name}: ${sql.replaceAll('\n', ' ')}`, () => {
    const problems = problemsOf(`20991231000000_${name}`, sql);
    if (expected) assert.match(problems.join('\n'), expected);
    else assert.deepEqual(problems, []);
  });
