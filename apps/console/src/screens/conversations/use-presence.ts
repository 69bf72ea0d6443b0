import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { useWorkspace } from '../../frame/workspace';
import type { Thread } from './names';

/** An open thread counts for 45 s, and typing for 6 s. */
const presenceMs = 30_000;
const typingMs = 3_000;

/**
 * Shows colleagues that this person has the thread open and writes. Returns the function that is
 * called at each change of the text.
 */
export function usePresence(threadId: string): (isTyping: boolean) => void {
  const { api } = useWorkspace();
  const saidMs = useRef(0);
  useEffect(() => {
    const say = (isOpen: boolean) =>
      void api.visitThread({ id: threadId, isOpen }).catch(() => undefined);
    const sayIfVisible = () => document.visibilityState === 'visible' && say(true);
    sayIfVisible();
    const timer = setInterval(sayIfVisible, presenceMs);
    document.addEventListener('visibilitychange', sayIfVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', sayIfVisible);
      say(false);
    };
  }, [api, threadId]);
  return useCallback(
    (isTyping: boolean) => {
      const isSaid = Date.now() - saidMs.current < typingMs;
      if (isTyping && isSaid) return;
      // Nothing was said, so there is nothing to take back.
      if (!isTyping && saidMs.current === 0) return;
      saidMs.current = isTyping ? Date.now() : 0;
      void api.visitThread({ id: threadId, isOpen: true, isTyping }).catch(() => undefined);
    },
    [api, threadId],
  );
}

/** Marks what the person sees as read: not in a tab in the background. */
export function useReadMark({ id, isUnread, lastMessageAt }: Thread): void {
  const { api, key } = useWorkspace();
  const cache = useQueryClient();
  const [organizationId, environment] = key;
  useEffect(() => {
    if (!isUnread) return;
    const mark = () => {
      if (document.visibilityState !== 'visible') return;
      void api.readThread({ id }).then(
        () => {
          for (const name of ['threads', 'thread'])
            void cache.invalidateQueries({ queryKey: [organizationId, environment, name] });
        },
        () => undefined,
      );
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [api, cache, organizationId, environment, id, isUnread, lastMessageAt]);
}
