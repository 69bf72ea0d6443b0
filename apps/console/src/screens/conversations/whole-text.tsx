import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api/errors';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { conversationsCatalog } from './texts';
import type { Message } from './timeline';

/**
 * The text of a message: its beginning where the list cuts it, and all of it after a person
 * has asked for that.
 */
export function useWholeText(threadId: string, { id, content, isTruncated }: Message) {
  const { api, key } = useWorkspace();
  const [isWanted, setWanted] = useState(false);
  const whole = useQuery({
    queryKey: [...key, 'thread', threadId, 'message', id],
    queryFn: ({ signal }) => api.getThreadMessage({ id: threadId, messageId: id }, { signal }),
    enabled: isTruncated === true && isWanted,
    staleTime: Infinity,
  });
  return {
    text: whole.data?.content ?? content,
    isCut: isTruncated === true && whole.data === undefined,
    isLoading: whole.isFetching,
    error: whole.error,
    show: () => (isWanted ? void whole.refetch() : setWanted(true)),
  };
}

/** Below a text that is cut: shows all of it. */
export function ShowAll({ isLoading, error, show }: ReturnType<typeof useWholeText>) {
  const conversations = useTexts(conversationsCatalog);
  return (
    <div className="mt-1 space-y-1 text-xs">
      {error !== null && (
        <p role="alert" className="text-failed">
          {messageOf(error)}
        </p>
      )}
      <Button isBusy={isLoading} onClick={show}>
        {conversations.showAll}
      </Button>
    </div>
  );
}
