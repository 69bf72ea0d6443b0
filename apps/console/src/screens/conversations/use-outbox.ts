import { useEffect, useSyncExternalStore } from 'react';
import { type Workspace, queryClient } from '../../api/session';
import { storedBelow } from '../../stored';
import { Outbox, type Outgoing } from './outbox';

const nameOf = (workspace: Workspace, personId: string, ...thread: string[]): string =>
  ['outbox', personId, ...workspace.key, ...thread].join('.');

const outboxes = new Map<string, Outbox>();
function outboxOf(workspace: Workspace, threadId: string, personId: string): Outbox {
  const id = [personId, ...workspace.key, threadId].join();
  let outbox = outboxes.get(id);
  if (outbox === undefined) {
    const { api, key } = workspace;
    const refresh = () => queryClient.invalidateQueries({ queryKey: [...key, 'thread', threadId] });
    outbox = new Outbox({
      api,
      threadId,
      storedAs: nameOf(workspace, personId, threadId),
      refresh,
    });
    outboxes.set(id, outbox);
  }
  return outbox;
}

/** Sends what an earlier page has left in any thread, such as a phone without a connection. */
export function runOutboxes(workspace: Workspace, personId: string): void {
  for (const threadId of storedBelow(nameOf(workspace, personId)))
    void outboxOf(workspace, threadId, personId).run();
}

export function useOutbox(
  workspace: Workspace,
  threadId: string,
  personId: string,
): { outbox: Outbox; items: Outgoing[] } {
  const outbox = outboxOf(workspace, threadId, personId);
  const items = useSyncExternalStore(outbox.subscribe, outbox.items);
  useEffect(() => void outbox.run(), [outbox]);
  useEffect(() => {
    if (items.length === 0) return;
    // Leaving the page would end a request whose file is not kept.
    const hold = (event: BeforeUnloadEvent) =>
      items.some(({ body, error }) => body.file && error === null) && event.preventDefault();
    window.addEventListener('beforeunload', hold);
    return () => window.removeEventListener('beforeunload', hold);
  }, [items]);
  return { outbox, items };
}
