import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useAgents, useRouters } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ScreenHead } from '../../parts/screen-head';
import { Failure, Skeleton } from '../../parts/states';
import { stored } from '../../stored';
import { NoAgents } from '../agents/agents';
import { type RouterDefinition, definitionOf } from '../build/definitions';
import { Bench } from './bench';
import { playgroundCatalog } from './texts';
import { type Choosable, type Target, useConversation } from './use-conversation';

const route = getRouteApi('/$organization/$environment/playground');

/** Chats with an agent or router, and shows what it does. */
export function Playground() {
  const texts = useTexts(playgroundCatalog);
  const { key } = useWorkspace();
  const { agent, router, thread: threadId } = route.useSearch();
  const agents = useAgents();
  const routers = useRouters();
  const conversation = useConversation(threadId);
  const last = useMemo(() => stored(['playground', ...key].join('.')), [key]);
  const targets: Choosable[] = [
    ...agents.items.map(({ slug, name }) => ({ kind: 'agent' as const, slug, name })),
    ...routers.items.map((item) => {
      const { slug, name } = definitionOf<RouterDefinition>(item);
      return { kind: 'router' as const, slug, name };
    }),
  ];
  const failed = [agents, routers].find((list) => list.isError && list.data === undefined);
  const { thread } = conversation.stored.data ?? {};
  const isOfThread = agent === undefined && router === undefined && threadId !== undefined;
  const content = () => {
    if (failed) return <Failure error={failed.error} onRetry={() => failed.refetch()} />;
    if (agents.isPending || routers.isPending) return <Skeleton />;
    if (targets.length === 0) return <NoAgents />;
    if (conversation.stored.isError && thread === undefined)
      return (
        <Failure error={conversation.stored.error} onRetry={() => conversation.stored.refetch()} />
      );
    if (isOfThread && thread === undefined) return <Skeleton />;
    return null;
  };
  const shown = content();
  if (shown !== null)
    return (
      <div className="flex h-full flex-col">
        <ScreenHead title={texts.title} />
        <div className="min-h-0 flex-1 overflow-auto">{shown}</div>
      </div>
    );
  const named: Target | undefined =
    router !== undefined
      ? { kind: 'router', slug: router }
      : agent !== undefined
        ? { kind: 'agent', slug: agent }
        : isOfThread && thread?.agentSlug
          ? { kind: 'agent', slug: thread.agentSlug }
          : undefined;
  const find = (wanted: string | null) =>
    targets.find(({ kind, slug }) => `${kind}:${slug}` === wanted);
  const target = named ? find(`${named.kind}:${named.slug}`) : (find(last.get()) ?? targets[0]);
  return (
    <Bench
      conversation={conversation}
      threadId={threadId}
      targets={targets}
      target={target}
      unknown={target === undefined ? named?.slug : undefined}
      onTarget={(one) => last.set(`${one.kind}:${one.slug}`)}
    />
  );
}
