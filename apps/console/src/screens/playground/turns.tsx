import { Bot, User } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTypes } from '../../api/queries';
import { formatDuration, formatExact, formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Link } from '../../parts/link';
import { Notice } from '../../parts/states';
import { useTick } from '../../parts/time';
import { useScrollPlace } from '../../parts/use-scroll-place';
import { FailedTurn } from './failure';
import { playgroundCatalog } from './texts';
import { type Turn, isOpen } from './use-conversation';
import type { Reply } from './reply';

interface TurnsProps {
  turns: readonly Turn[];
  /** What the running turn has written. */
  reply: Reply | null;
  /** A message that the server has not taken yet. */
  sending: string | null;
  threadId: string | undefined;
  hasEarlier: boolean;
  /** The turn whose steps are shown. */
  chosen: string | undefined;
  onChoose: (turn: string) => void;
  onSend: (message: string) => void;
  empty: ReactNode;
}

/** The conversation, to which words are added as the model writes them. */
export function Turns({
  turns,
  reply,
  sending,
  threadId,
  hasEarlier,
  chosen,
  onChoose,
  onSend,
  empty,
}: TurnsProps) {
  const texts = useTexts(playgroundCatalog);
  const { scroller } = useScrollPlace();
  if (turns.length === 0 && sending === null)
    return <div className="min-h-0 flex-1 overflow-auto">{empty}</div>;
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="log"
      aria-label={texts.chat}
      className="min-h-0 flex-1 overflow-auto p-3 [overflow-anchor:none]"
    >
      <div className="mx-auto max-w-3xl space-y-5">
        {hasEarlier && threadId && (
          <p className="text-center text-n11">
            <Link to="conversations/$threadId" params={{ threadId }} className="underline">
              {texts.earlier}
            </Link>
          </p>
        )}
        {turns.map((turn, at) => (
          <OneTurn
            key={turn.id}
            turn={turn}
            reply={reply?.executionId === turn.id ? reply : null}
            isChosen={turn.id === chosen}
            isLast={at === turns.length - 1}
            onChoose={() => onChoose(turn.id)}
            onSend={onSend}
          />
        ))}
        {sending !== null && <Bubble look="user">{sending}</Bubble>}
      </div>
    </div>
  );
}

interface OneTurnProps {
  turn: Turn;
  reply: Reply | null;
  isChosen: boolean;
  isLast: boolean;
  onChoose: () => void;
  onSend: (message: string) => void;
}

function OneTurn({ turn, reply, isChosen, isLast, onChoose, onSend }: OneTurnProps) {
  const texts = useTexts(playgroundCatalog);
  const { execution } = turn;
  // While it runs, the stream has what is stored and more.
  const isWriting =
    isOpen(turn) || (turn.replies.length === 0 && execution?.status === 'succeeded');
  const written = (isWriting && reply?.texts.filter((text) => text !== '')) || [];
  return (
    <section data-item={turn.id} className="space-y-2" aria-label={turn.input.slice(0, 80)}>
      {turn.input !== '' && <Bubble look="user">{turn.input}</Bubble>}
      <TurnLine turn={turn} isChosen={isChosen} onChoose={onChoose} />
      {isWriting
        ? written.map((text, at) => (
            <Bubble key={at} look="agent">
              {text}
            </Bubble>
          ))
        : turn.replies.map(({ id, content, author, createdAt }) => (
            <Bubble
              key={id}
              look={author === null ? 'agent' : 'person'}
              by={author?.name}
              at={createdAt}
            >
              {content}
            </Bubble>
          ))}
      {isOpen(turn) && !reply?.texts.at(-1) && <Working turn={turn} reply={reply} />}
      {isOpen(turn) && reply && reply.runningTools.length > 0 && reply.texts.at(-1) && (
        <Working turn={turn} reply={reply} />
      )}
      {execution?.status === 'cancelled' && <p className="text-n11">{texts.cancelled}</p>}
      {execution?.status === 'stored' && <Notice kind="person">{texts.stored}</Notice>}
      {execution?.status === 'failed' && execution.error && (
        <FailedTurn error={execution.error} onAgain={() => onSend(turn.input)} />
      )}
      {isLast && execution?.model === 'offline/scripted' && execution.toolCallCount === 0 && (
        <TryTool onSend={onSend} />
      )}
    </section>
  );
}

const looks = {
  user: 'ml-auto bg-n3',
  agent: 'mr-auto',
  person: 'mr-auto bg-person-soft',
};

function Bubble({
  look,
  by,
  at,
  children,
}: {
  look: keyof typeof looks;
  by?: string;
  at?: number;
  children: string;
}) {
  return (
    <div
      title={at === undefined ? undefined : formatExact(at)}
      className={`w-fit max-w-[90%] rounded ${look === 'agent' ? 'px-1' : 'px-3 py-2'} ${looks[look]}`}
    >
      {by && (
        <p className="flex items-center gap-1 text-xs text-person">
          <User aria-hidden size={12} /> {by}
        </p>
      )}
      <p className="text-base leading-relaxed whitespace-pre-wrap [@media(pointer:coarse)]:text-lg">
        {children}
      </p>
    </div>
  );
}

/** Who answered with how much work; chooses the turn whose steps are shown. */
function TurnLine({
  turn: { execution },
  isChosen,
  onChoose,
}: {
  turn: Turn;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const common = useTexts();
  const texts = useTexts(playgroundCatalog);
  if (execution === undefined) return null;
  const { agentSlug, model, toolCallCount, toolErrorCount, durationMs, inputTokens, outputTokens } =
    execution;
  const facts = [
    agentSlug,
    model,
    toolCallCount > 0 && common.units.tools(toolCallCount),
    durationMs !== null && formatDuration(durationMs, common),
    outputTokens > 0 && common.units.tokens(formatNumber(inputTokens), formatNumber(outputTokens)),
  ];
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      title={texts.steps}
      onClick={onChoose}
      className={`tap flex max-w-full flex-wrap items-center gap-1.5 rounded px-1 text-left text-xs tabular-nums ${isChosen ? 'bg-accent-soft text-accent' : 'text-n11 hover:bg-n3'}`}
    >
      <Bot aria-hidden size={14} />
      {facts.filter(Boolean).join(' · ')}
      {toolErrorCount > 0 && (
        <span className="text-failed">{common.units.failed(toolErrorCount)}</span>
      )}
    </button>
  );
}

/** What the turn is waiting for, and for how long. */
function Working({ turn: { execution }, reply }: { turn: Turn; reply: Reply | null }) {
  const common = useTexts();
  const texts = useTexts(playgroundCatalog);
  const [openedAt] = useState(Date.now);
  useTick(500);
  const tools = reply?.runningTools.map(({ name }) => name) ?? [];
  const isQueued = reply === null || execution?.status === 'queued';
  const what =
    tools.length > 0 ? texts.runs(tools.join(', ')) : isQueued ? texts.queued : texts.waiting;
  return (
    <p className="px-1 text-n11 tabular-nums" role="status">
      {what} · {formatDuration(Math.max(0, Date.now() - openedAt), common)}
    </p>
  );
}

/** Without a provider a developer can still see how an agent calls a tool. */
function TryTool({ onSend }: { onSend: (message: string) => void }) {
  const texts = useTexts(playgroundCatalog);
  const type = useTypes().data?.data[0]?.slug;
  if (type === undefined) return null;
  const message = `/tool entity.query {"type":"${type}","limit":1}`;
  return (
    <div className="space-y-1.5">
      <p className="px-1 text-n11">{texts.scripted}</p>
      <Button className="max-w-full" onClick={() => onSend(message)}>
        <code className="truncate font-mono text-xs">{message}</code>
      </Button>
    </div>
  );
}
