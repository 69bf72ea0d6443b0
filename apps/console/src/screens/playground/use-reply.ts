import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { type Reply, written } from './reply';

/**
 * Follows an execution while it runs. Each event that is no text reads the execution again, which
 * has what the stream has not: durations, tokens and permissions. Without the stream the queries of
 * the page read the execution every second.
 */
export function useReply(executionId: string | undefined): Reply | null {
  const { client, key } = useWorkspace();
  const cache = useQueryClient();
  const [reply, setReply] = useState<Reply | null>(null);
  useEffect(() => {
    if (executionId === undefined) return;
    const connection = new AbortController();
    const read = (...name: string[]) =>
      void cache.invalidateQueries({ queryKey: [...key, ...name] }, { cancelRefetch: false });
    const follow = async () => {
      setReply({ executionId, texts: [], runningTools: [] });
      for await (const { chunk } of client.executions.stream(executionId, {
        signal: connection.signal,
      })) {
        setReply((before) => before && written(before, chunk));
        if (!chunk.type.startsWith('text-')) read('execution', executionId);
      }
    };
    follow()
      .catch(() => undefined)
      .finally(() => {
        if (connection.signal.aborted) return;
        void cache.invalidateQueries({ queryKey: [...key, 'execution', executionId] });
        void cache.invalidateQueries({ queryKey: [...key, 'playground'] });
      });
    return () => connection.abort();
  }, [client, cache, key, executionId]);
  return reply?.executionId === executionId ? reply : null;
}
