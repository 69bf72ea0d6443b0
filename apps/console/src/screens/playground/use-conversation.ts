import type { JsonObject } from '@parley/client';
import type { ResultOf } from '@parley/client/manage';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { hasEnded } from '../executions/trace';

type ListedExecution = ResultOf<'listExecutions'>['data'][number];
type Message = ResultOf<'listThreadMessages'>['data'][number];

/** One message and what was answered. */
export interface Turn {
  id: string;
  input: string;
  /** Replies of the agent or of people. */
  replies: Message[];
  /** Missing until it is read for the first time. */
  execution: ListedExecution | undefined;
}

export interface Target {
  kind: 'agent' | 'router';
  slug: string;
}

/** An agent or router to write to, and its name for people. */
export interface Choosable extends Target {
  name: string;
}

export interface Outgoing {
  message: string;
  model?: string;
  params?: JsonObject;
  phoneNumber?: string;
}

export const isOpen = ({ execution }: Turn): boolean =>
  execution === undefined || !hasEnded(execution);

function turnsOf(messages: readonly Message[], executions: readonly ListedExecution[]): Turn[] {
  const turns = new Map<string, Turn>();
  const executionOf = new Map(executions.map((execution) => [execution.id, execution]));
  for (const message of messages.toReversed()) {
    const id = message.executionId;
    const turn = turns.get(id) ?? { id, input: '', replies: [], execution: executionOf.get(id) };
    turns.set(id, turn);
    if (message.role === 'user') turn.input = message.content;
    else if (message.role === 'assistant' && message.content !== '') turn.replies.push(message);
  }
  return [...turns.values()];
}

/** The conversation of a thread, and the message that is being sent to it. */
export function useConversation(threadId: string | undefined) {
  const { api, key } = useWorkspace();
  const stored = useQuery({
    queryKey: [...key, 'playground', threadId],
    queryFn: async ({ signal }) => {
      const id = threadId!;
      // Executions are read first, so that one that has ended has its reply among the messages.
      const [thread, executions] = await Promise.all([
        api.getThread({ id }, { signal }),
        api.listExecutions({ thread: id, limit: 100 }, { signal }),
      ]);
      const messages = await api.listThreadMessages({ id, limit: 100 }, { signal });
      return {
        thread,
        turns: turnsOf(messages.data, executions.data),
        hasEarlier: messages.hasMore,
      };
    },
    enabled: threadId !== undefined,
    refetchInterval: ({ state }) => (state.data?.turns.some(isOpen) ? 2_000 : 10_000),
  });
  const [started, setStarted] = useState<{ threadId: string; turn: Turn } | null>(null);
  const turns = stored.data?.turns ?? [];
  const known = turns.find(({ id }) => id === started?.turn.id);
  // A turn that was started here is shown before the thread is read again.
  const all =
    started !== null && started.threadId === threadId && !known ? [...turns, started.turn] : turns;
  return { stored, turns: all, setStarted };
}

/** Sends a message, which is answered in the background, whether this page stays open or not. */
export function useSend(target: Target, threadId: string | undefined) {
  const { api } = useWorkspace();
  return useMutation({
    mutationFn: ({ message, model, params, phoneNumber }: Outgoing) =>
      api.startExecution({
        message,
        threadId,
        channel: 'dashboard' as const,
        ...(target.kind === 'agent' ? { agentSlug: target.slug } : { routerSlug: target.slug }),
        ...(model && { model }),
        ...(phoneNumber && { phoneNumber }),
        ...(params && Object.keys(params).length > 0 && { threadContext: { params } }),
      }),
  });
}
