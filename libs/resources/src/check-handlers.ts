import type { ErrorDetail, RawResourceSet, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { pathOf } from './parse-resources';

/** Says whether a handler can be parsed, by whoever will run it. `unavailable`: it could not be asked. */
export type CheckHandler = (
  handlerCode: string,
) => Promise<{ ok: true } | { ok: false; reason: 'invalid'; message: string } | { ok: false; reason: 'unavailable' }>;

/** At a time: what parses them has few processes, and others use them too. */
const atOnce = 4;

const storedHandlers = statement(
  'stored-handlers',
  `select name, definition->>'handlerCode' as code from tools
   where tenant = $1 and environment = $2::"Environment" and name = any($3)`,
  { name: column.text, code: column.text },
);

/**
 * The problems of the handlers that a push would change; null when they could not be checked. Asked before the push's
 * transaction, which others wait for.
 */
export async function checkHandlers(
  db: Queryable,
  scope: Scope,
  { tools = [] }: RawResourceSet,
  check: CheckHandler,
): Promise<ErrorDetail[] | null> {
  const given = tools.flatMap((tool, index) => {
    const { name, handlerCode } = (tool ?? {}) as { name?: unknown; handlerCode?: unknown };
    // Anything else is a problem of its shape, which is told anyway.
    return typeof name === 'string' && typeof handlerCode === 'string' && handlerCode !== ''
      ? [{ index, name, handlerCode }]
      : [];
  });
  if (given.length === 0) return [];
  const names = given.map(({ name }) => name);
  const { rows } = await db.query(scope, storedHandlers, [scope.tenant, scope.environment, names]);
  const stored = new Map(rows.map(({ name, code }) => [name, code]));
  const changed = given.filter(({ name, handlerCode }) => stored.get(name) !== handlerCode);
  const problems: ErrorDetail[] = [];
  let isUnavailable = false;
  const queue = changed.values();
  const work = async () => {
    for (const { index, handlerCode } of queue) {
      if (isUnavailable) return;
      const checked = await check(handlerCode);
      if (checked.ok) continue;
      if (checked.reason === 'unavailable') isUnavailable = true;
      else problems.push({ path: pathOf('tools', index, 'handlerCode'), message: checked.message });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, changed.length) }, work));
  return isUnavailable ? null : problems.sort((a, b) => (a.path < b.path ? -1 : 1));
}
