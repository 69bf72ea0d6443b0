import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readOrganization } from '@parley/identity';
import type { HandoffRequest, ToolResult } from '@parley/tools';
import { isOpen } from './opening-hours';
import { askForPerson } from './people';

const after = (now: number, minutes: number | null) =>
  minutes === null ? null : new Date(now + minutes * 60_000);

/**
 * Implements the tool `thread.handoff`: the thread waits for a person
 * (docs/reference/tools.md#threadhandoff). `reply` of the result is what the contact gets instead
 * of the agent's own words; null: the agent answers.
 */
export function createHandoff(
  db: Db,
): (scope: Scope, request: HandoffRequest) => Promise<ToolResult> {
  return async (scope, { threadId, agentSlug, reason, message }) => {
    const { conversations, timezone } = await readOrganization(db, scope.organizationId);
    const now = new Date();
    const open = isOpen(conversations.openingHours, timezone, now);
    const isWaiting = await db.transaction((tx) =>
      askForPerson(tx, scope, {
        threadId,
        agentSlug,
        reason,
        resumesAt: after(now.getTime(), conversations.takeBackAfterMinutes),
        notifyAt: after(now.getTime(), conversations.notifyAfterMinutes),
      }),
    );
    if (!isWaiting)
      return {
        ok: false,
        errorType: 'execution_error',
        message: 'A person was asked already, or cannot be asked in this conversation',
      };
    const reply = (open ? null : conversations.closedMessage) ?? message ?? null;
    return { ok: true, result: { waiting: true, isOpen: open, reply } };
  };
}
