/** Creates the whole schema in an empty database. */
const baseline = '20261128000000_baseline';

/** Statements of an expansion: the previous version does not notice them. */
const additions = [
  /^create (table|type|or replace function|function) /,
  /^create (unique )?index concurrently /,
  /^drop index concurrently if exists /,
  /^alter type \S+ add value /,
  /^alter table \S+ (add column|add constraint|validate constraint|alter column \S+ set default) /,
  /^(insert into|comment on) /,
];

/**
 * Returns what is wrong with a migration that is applied while the previous version serves requests
 * (docs/adr/0070).
 * @param {string} name
 * @param {string} sql
 * @returns {string[]}
 */
export function problemsOf(name, sql) {
  if (name === baseline) return [];
  const kind = /^\d{14}_(expand|contract)_/.exec(name)?.[1];
  const problems = kind
    ? []
    : ['its name begins with neither expand_ nor contract_ after the time'];
  const statements = statementsOf(sql);
  const created = new Set(
    statements.flatMap(
      (text) => /^create table (?:if not exists )?([^\s(]+)/.exec(text)?.[1] ?? [],
    ),
  );
  const concurrent = statements.filter((text) =>
    /^(create (unique )?|drop )index concurrently /.test(text),
  );
  if (concurrent.length > 0 && (concurrent.length < statements.length || sql.includes('$$')))
    problems.push(
      'statements with "concurrently" are not in a migration of their own, because they are not in a transaction',
    );
  for (const text of statements) {
    const shown = text.slice(0, 80);
    if (kind === 'expand' && !isAddition(text, created))
      problems.push(`it is not an expansion: ${shown}`);
    if (/^alter table .*\badd column\b.*\bnot null\b/.test(text) && !/\bdefault\b/.test(text))
      problems.push(`the previous version inserts no value of the new column: ${shown}`);
    const table = /^(?:alter table (?:only )?|create (?:unique )?index \S+ on )([^\s(]+)/.exec(
      text,
    )?.[1];
    if (table === undefined || created.has(table)) continue;
    if (/^create (unique )?index /.test(text))
      problems.push(`it locks the table while it builds an index: ${shown}`);
    if (/\badd constraint\b/.test(text) && !/\bnot valid$|\busing index\b/.test(text))
      problems.push(`it locks the table while it checks all rows, without "not valid": ${shown}`);
    if (
      /\bvalidate constraint\b/.test(text) &&
      statements.some((other) => other.includes('not valid'))
    )
      problems.push(`it checks all rows in the transaction that locks the table: ${shown}`);
  }
  // Referenced tables are locked too. Nothing that writes other tables locks a row
  // of organizations.
  const locked = statements.flatMap((text) => [
    ...(/^alter table (?:only )?([^\s(]+)/.exec(text)?.slice(1) ?? []),
    ...[...text.matchAll(/\breferences ([^\s(]+)/g)].map(([, table]) => table),
  ]);
  const existing = [...new Set(locked)].filter(
    (table) => !created.has(table) && table !== 'organizations',
  );
  if (existing.length > 1)
    problems.push(
      `it waits for a table while it locks another, so a request can end in a deadlock: ${existing.join(', ')}`,
    );
  for (const text of concurrent) {
    const index = /^create (?:unique )?index concurrently (\S+)/.exec(text)?.[1];
    const dropped = statements[statements.indexOf(text) - 1];
    if (index !== undefined && dropped !== `drop index concurrently if exists ${index}`)
      problems.push(
        `it cannot be applied again after a failure, without "drop index concurrently if exists" before ${index}`,
      );
  }
  return problems;
}

const isAddition = (text, created) =>
  (additions.some((pattern) => pattern.test(text)) &&
    !/^alter table .*(\bdrop\b|\brename\b|\btype\b|set not null)/.test(text)) ||
  created.has(/^create (?:unique )?index \S+ on ([^\s(]+)/.exec(text)?.[1]);

/**
 * The statements in lower case, without comments, quotes and bodies of functions,
 * with single spaces.
 */
const statementsOf = (sql) =>
  sql
    .replace(/\$\$.*?\$\$/gs, "''")
    .replace(/--.*$/gm, '')
    .split(';')
    .map((text) => text.replaceAll('"', '').replace(/\s+/g, ' ').trim().toLowerCase())
    .filter(Boolean);
