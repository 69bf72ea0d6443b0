import type { ErrorDetail, RawResourceSet, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { pathOf } from './parse-resources';
import { handlerHash } from './stored-resources';

/**
 * Checks that a handler can be parsed, with the parser of the tool executor. `unavailable`: the
 * executor did not respond.
 */
export type CheckHandler = (
  handlerCode: string,
  organizationId: string,
) => Promise<
  | { ok: true }
  | { ok: false; reason: 'invalid'; message: string }
  | { ok: false; reason: 'unavailable' }
>;

/**
 * Number of handlers that one push checks at a time. The executor has few processes, which other
 * callers use too.
 */
const concurrency = 4;

const storedHandlers = statement(
  'stored-handlers',
  `select name, encode(sha256(convert_to(definition->>'handlerCode', 'UTF8')), 'hex') as hash from tools
   where tenant = $tenant and environment = $environment::"Environment" and name = any($names)`,
  { name: column.text, hash: column.text },
);

/**
 * The problems of the handlers that a push would add or change; null if they could not be checked.
 * Runs before the transaction of the push, because other pushes wait for that transaction.
 */
export async function checkHandlers(
  db: Queryable,
  scope: Scope,
  { tools = [] }: RawResourceSet,
  check: CheckHandler,
): Promise<ErrorDetail[] | null> {
  const given = tools.flatMap((tool, index) => {
    const { name, handlerCode } = (tool ?? {}) as { name?: unknown; handlerCode?: unknown };
    // An invalid shape is reported by parseResources.
    return typeof name === 'string' && typeof handlerCode === 'string' && handlerCode !== ''
      ? [{ index, name, handlerCode }]
      : [];
  });
  if (given.length === 0) return [];
  const names = given.map(({ name }) => name);
  const { rows } = await db.query(scope, storedHandlers, { environment: scope.environment, names });
  const stored = new Map(rows.map(({ name, hash }) => [name, hash]));
  const changed = given.filter(
    ({ name, handlerCode }) => stored.get(name) !== handlerHash(handlerCode),
  );
  const problems: ErrorDetail[] = [];
  let isUnavailable = false;
  const queue = changed.values();
  const checkNext = async () => {
    for (const { index, handlerCode } of queue) {
      if (isUnavailable) return;
      const checked = await check(handlerCode, scope.organizationId);
      if (checked.ok) continue;
      if (checked.reason === 'unavailable') isUnavailable = true;
      else problems.push({ path: pathOf('tools', index, 'handlerCode'), message: checked.message });
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, changed.length) }, checkNext));
  return isUnavailable ? null : problems.sort((a, b) => (a.path < b.path ? -1 : 1));
}
