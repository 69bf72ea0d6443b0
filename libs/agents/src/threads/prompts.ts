import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const promptRow = {
  /** The beginning of the system prompt, at most 256 KiB. */
  text: column.text,
  /** Size of the whole prompt, in UTF-8. */
  bytes: column.int4,
  /** Names of the tools that were offered. */
  tools: column.textArray,
};

export type StoredPrompt = RowOf<typeof promptRow>;

const promptByHash = statement(
  'find-execution-prompt',
  'select text, bytes, tools from execution_prompts where tenant = $tenant and hash = $hash',
  promptRow,
);

/** The prompt that an execution sent, by the hash in its row. */
export async function readPrompt(
  db: Queryable,
  scope: Scope,
  hash: Buffer,
): Promise<StoredPrompt | null> {
  const { rows } = await db.query(scope, promptByHash, { hash });
  return rows[0] ?? null;
}

const hashesOfThread = statement(
  'prompt-hashes-of-thread',
  `select distinct prompt_hash as hash from executions
   where tenant = $tenant and thread_id = $threadId and prompt_hash is not null`,
  { hash: column.bytea },
);

const deleteUnused = statement(
  'delete-unused-prompts',
  `delete from execution_prompts p where p.tenant = $tenant and p.hash = any($hashes::bytea[])
     and not exists (select from executions e where e.tenant = $tenant and e.prompt_hash = p.hash)`,
);

/**
 * Runs `erase`, which deletes a thread with its executions, and then deletes the prompts that no
 * other execution sent. Both in the caller's transaction.
 */
export async function withPromptsErased<T>(
  tx: Queryable,
  scope: Scope,
  threadId: string,
  erase: () => Promise<T>,
): Promise<T> {
  const { rows } = await tx.query(scope, hashesOfThread, { threadId });
  const result = await erase();
  if (rows.length > 0)
    await tx.query(scope, deleteUnused, { hashes: rows.map(({ hash }) => hash) });
  return result;
}
