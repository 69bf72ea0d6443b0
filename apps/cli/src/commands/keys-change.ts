import { type ManageClient, iterate } from '@parley/client/manage';
import { durationMs } from '../duration';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { secretOf } from '../secrets';
import { note, print, printJson } from '../terminal';

/**
 * `parley keys revoke <key>`: revokes a key. All processes refuse it within a second. The whole key
 * is never printed.
 */
export async function runKeysRevoke(
  argument: string,
  { json, ...options }: KeyOptions,
): Promise<void> {
  const text = await secretOf(argument);
  const { id } = await withManage(options, async (manage) => {
    const key = await findKey(manage, text);
    await manage.revokeApiKey(key);
    return key;
  });
  if (json) return printJson({ id, revoked: true });
  print(`Revoked key ${id}.`);
}

/**
 * `parley keys rotate <key>`: prints a key that replaces another one, which works until the
 * end of the overlap.
 */
export async function runKeysRotate(
  argument: string,
  { overlap = '1d', json, ...options }: KeyOptions & { overlap?: string },
): Promise<void> {
  const overlapMs = overlap === '0' ? 0 : durationMs(overlap);
  if (overlapMs === null)
    throw usageFailure(`--overlap must be a duration such as 12h or 7d, or 0, not "${overlap}"`);
  const text = await secretOf(argument);
  const made = await withManage(options, async (manage) =>
    manage.rotateApiKey({
      ...(await findKey(manage, text)),
      overlapSeconds: Math.round(overlapMs / 1000),
    }),
  );
  if (json) return printJson(made);
  note(`Created key ${made.id}, which replaces ${made.name}. The old key works for ${overlap}.`);
  note('Store it now. It cannot be shown again.');
  print(made.key);
}

/**
 * The active key with this id, visible prefix or whole text. `keys list` prints prefixes
 * with an ellipsis.
 */
async function findKey(manage: ManageClient, text: string): Promise<{ id: string }> {
  const name = text.replace(/(…|\.\.\.)$/, '');
  const found: string[] = [];
  for await (const { id, prefix, revokedAt } of iterate(manage.listApiKeys, { limit: 100 }))
    if (revokedAt === null && (id === name || name.startsWith(prefix))) found.push(id);
  if (found.length === 1) return { id: found[0]! };
  const shown = name.replace(/^(sk_(?:dev|prod)_.{6}).+$/s, '$1…');
  if (found.length > 1)
    throw new Failure(
      `Several active keys begin with "${shown}". Name one by its id: ${found.join(', ')}`,
    );
  throw new Failure(`There is no active key "${shown}". List the keys with: parley keys list`);
}
