import { getRouteApi } from '@tanstack/react-router';
import { MessagesSquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { useKeys } from '../../frame/keys';
import { useTexts } from '../../i18n';
import { Button, Choice, linkLook } from '../../parts/controls';
import { Link, linkTo } from '../../parts/link';
import { ScreenHead } from '../../parts/screen-head';
import { Empty, Notice } from '../../parts/states';
import { Tabs } from '../../parts/view-tabs';
import { type AgentDefinition, definitionOf } from '../build/definitions';
import { useAgent } from '../agents/agent';
import { Chat } from './chat';
import { type Typed, paramsOf } from './params';
import { PromptPanel } from './prompt-panel';
import { Steps } from './steps';
import { playgroundCatalog } from './texts';
import { type Choosable, isOpen, type useConversation } from './use-conversation';
import { useReply } from './use-reply';

const route = getRouteApi('/$organization/$environment/playground');
const tabs = ['steps', 'prompt'] as const;

interface BenchProps {
  conversation: ReturnType<typeof useConversation>;
  threadId: string | undefined;
  targets: readonly Choosable[];
  target: Choosable | undefined;
  /** The address names an agent or router that does not exist. */
  unknown: string | undefined;
  onTarget: (target: Choosable) => void;
}

/** The chat, and beside it what happens; on a phone one of them at a time. */
export function Bench({ conversation, threadId, targets, target, unknown, onTarget }: BenchProps) {
  const texts = useTexts(playgroundCatalog);
  const { turn, step, tab } = route.useSearch();
  const navigate = route.useNavigate();
  const [typedOf, setTyped] = useState<Record<string, Typed>>({});
  const { turns, stored } = conversation;
  const shown = turns.find(({ id }) => id === turn) ?? turns.at(-1);
  const reply = useReply(turns.findLast(isOpen)?.id);
  const id = target && `${target.kind}:${target.slug}`;
  const { data: agent } = useAgent(target?.kind === 'agent' ? target.slug : undefined);
  const definition = agent && definitionOf<AgentDefinition>(agent);
  const typed = (id !== undefined && typedOf[id]) || {};
  const ofThread = stored.data?.thread.params ?? {};
  const params = paramsOf(definition?.threadContextParams ?? [], typed, ofThread);
  const startNew = (to = target) => {
    conversation.setStarted(null);
    void navigate({ search: to ? { [to.kind]: to.slug } : {} });
  };
  const choose = (value: string) => {
    const chosen = targets.find(({ kind, slug }) => `${kind}:${slug}` === value);
    if (chosen === undefined) return;
    onTarget(chosen);
    startNew(chosen);
  };
  useKeys({
    Escape: () =>
      tab === undefined
        ? false
        : void navigate({ search: (before) => ({ ...before, tab: undefined }) }),
  });
  // The prompt is that of the agent that answered, or of the one that will.
  const promptOf =
    shown?.execution?.agentSlug ?? (target?.kind === 'agent' ? target.slug : undefined);
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={texts.title}>
        <Choice
          label={texts.target}
          value={id ?? ''}
          onChange={({ target: { value } }) => choose(value)}
          options={[
            ...(target === undefined ? [['', texts.target] as const] : []),
            ...targets.map(
              ({ kind, slug, name }) =>
                [`${kind}:${slug}`, kind === 'router' ? texts.router(name) : name] as const,
            ),
          ]}
          className="max-w-48 max-sm:max-w-36"
        />
        <Button
          icon={Plus}
          onClick={() => startNew()}
          disabled={threadId === undefined}
          className="max-sm:px-0"
        >
          <span className="max-sm:sr-only">{texts.startNew}</span>
        </Button>
        {threadId !== undefined && <ThreadLink threadId={threadId} />}
        <div className="w-full lg:hidden">
          <PanelTabs tab={tab} withChat />
        </div>
      </ScreenHead>
      <div className="flex min-h-0 flex-1">
        <div className={`flex min-w-0 flex-1 flex-col ${tab === undefined ? '' : 'max-lg:hidden'}`}>
          {target === undefined ? (
            <Empty title={texts.target}>
              <Notice>{texts.unknownTarget(unknown ?? '')}</Notice>
            </Empty>
          ) : (
            <Chat
              target={target}
              definition={definition}
              threadId={threadId}
              conversation={conversation}
              reply={reply}
              chosen={shown?.id}
              typed={typed}
              onType={(name, text) =>
                setTyped((before) => ({ ...before, [id!]: { ...before[id!], [name]: text } }))
              }
              {...params}
            />
          )}
        </div>
        <aside
          aria-label={texts.panel}
          className={`min-w-0 flex-col border-n5 lg:flex lg:w-[26rem] lg:shrink-0 lg:border-l xl:w-[34rem] ${tab === undefined ? 'hidden' : 'flex w-full'}`}
        >
          <div className="border-b border-n5 px-3 py-1 max-lg:hidden">
            <PanelTabs tab={tab ?? 'steps'} />
          </div>
          <div className="min-h-0 flex-1 overflow-auto">
            {tab === 'prompt' ? (
              promptOf === undefined ? (
                <p className="p-4 text-n11">{texts.noTurn}</p>
              ) : (
                <PromptPanel
                  agentSlug={promptOf}
                  message={shown?.input ?? ''}
                  params={{ ...ofThread, ...params.params }}
                  executionId={shown?.id}
                />
              )
            ) : shown === undefined ? (
              <p className="p-4 text-n11">{texts.noTurn}</p>
            ) : (
              <Steps
                key={shown.id}
                executionId={shown.id}
                step={step === undefined ? undefined : Number(step)}
                onStep={(at) =>
                  void navigate({
                    search: (before) => ({ ...before, turn: shown.id, step: String(at) }),
                    replace: true,
                  })
                }
              />
            )}
          </div>
        </aside>
      </div>
    </div>
  );
}

function PanelTabs({ tab, withChat = false }: { tab: string | undefined; withChat?: boolean }) {
  const texts = useTexts(playgroundCatalog);
  return (
    <Tabs
      label={texts.panel}
      views={[...(withChat ? [undefined] : []), ...tabs].map((name) => [
        texts[name ?? 'chat'],
        linkTo({ to: 'playground', search: (before) => ({ ...before, tab: name }) }),
        tab === name,
      ])}
    />
  );
}

function ThreadLink({ threadId }: { threadId: string }) {
  const texts = useTexts(playgroundCatalog);
  return (
    <Link to="conversations/$threadId" params={{ threadId }} className={linkLook}>
      <MessagesSquare aria-hidden size={16} strokeWidth={1.75} />
      <span className="max-sm:sr-only">{texts.openThread}</span>
    </Link>
  );
}
