import type { JsonObject } from '@parley/client';
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { messageOf } from '../../api/errors';
import { useChange } from '../../api/use-change';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Empty, Notice, Problem, Skeleton } from '../../parts/states';
import { stored } from '../../stored';
import type { AgentDefinition } from '../build/definitions';
import { Composer } from './composer';
import { Options, useProblems } from './options';
import { type ParamProblem, type Typed, textOf } from './params';
import { playgroundCatalog } from './texts';
import { Turns } from './turns';
import { type Choosable, isOpen, type useConversation, useSend } from './use-conversation';
import type { Reply } from './reply';

const route = getRouteApi('/$organization/$environment/playground');

interface ChatProps {
  target: Choosable;
  /** The agent's; missing for a router, and until it is loaded. */
  definition: AgentDefinition | undefined;
  threadId: string | undefined;
  conversation: ReturnType<typeof useConversation>;
  reply: Reply | null;
  chosen: string | undefined;
  typed: Typed;
  onType: (name: string, text: string) => void;
  params: JsonObject;
  problems: readonly ParamProblem[];
}

/** The messages, and what is sent next. */
export function Chat(props: ChatProps) {
  const {
    target,
    definition,
    threadId,
    conversation,
    reply,
    chosen,
    typed,
    onType,
    params,
    problems,
  } = props;
  const texts = useTexts(playgroundCatalog);
  const problemOf = useProblems();
  const { api, key } = useWorkspace();
  const cache = useQueryClient();
  const navigate = route.useNavigate();
  const draft = useMemo(() => stored(['draft', 'playground', ...key].join('.')), [key]);
  const [text, setText] = useState(() => draft.get() ?? '');
  const [model, setModel] = useState('');
  const [phoneNumber, setPhoneNumber] = useState('');
  const writer = useRef<HTMLTextAreaElement>(null);
  const place = useRef({ threadId, slug: target.slug });
  useEffect(() => {
    place.current = { threadId, slug: target.slug };
  });
  const sending = useSend(target, threadId);
  const running = conversation.turns.findLast(isOpen);
  const change = (value: string) => {
    setText(value);
    draft.set(value === '' ? null : value);
  };
  const send = (message: string) => {
    if (message.trim() === '' || running !== undefined || sending.isPending) return;
    if (problems.length > 0) return;
    const from = place.current;
    change('');
    sending.mutate(
      { message: message.trim(), model: model.trim(), params, phoneNumber: phoneNumber.trim() },
      {
        onSuccess: ({ executionId, threadId: into }) => {
          setModel('');
          // Another conversation may have been opened in the meantime.
          if (from.threadId !== place.current.threadId || from.slug !== place.current.slug) return;
          const turn = { id: executionId, input: message, replies: [], execution: undefined };
          conversation.setStarted({ threadId: into, turn });
          void navigate({
            search: (before) => ({ [target.kind]: target.slug, thread: into, tab: before.tab }),
            replace: into === threadId,
          });
          void cache.invalidateQueries({ queryKey: [...key, 'playground', into] });
        },
        onError: () => change(message),
      },
    );
  };
  const cancel = useChange((id: string) => api.cancelExecution({ id }), 'playground');
  useKeys({ r: () => writer.current?.focus() });
  const { thread, hasEarlier = false } = conversation.stored.data ?? {};
  const set = [
    model.trim(),
    ...Object.entries(params).map(([name, value]) => `${name}: ${textOf(value)}`),
    phoneNumber.trim(),
  ];
  return (
    <>
      {threadId !== undefined &&
      conversation.stored.isPending &&
      conversation.turns.length === 0 ? (
        <div className="flex-1">
          <Skeleton className="h-8" />
        </div>
      ) : (
        <Turns
          turns={conversation.turns}
          reply={reply}
          sending={sending.isPending ? sending.variables.message : null}
          threadId={threadId}
          hasEarlier={hasEarlier}
          chosen={chosen}
          onChoose={(turn) =>
            void navigate({
              search: (before) => ({ ...before, turn, step: undefined, tab: 'steps' }),
              replace: true,
            })
          }
          onSend={send}
          empty={
            <Beginning
              target={target}
              definition={definition}
              onSend={problems.length === 0 ? send : change}
            />
          }
        />
      )}
      <div className="mx-auto w-full max-w-3xl space-y-1 px-3 pb-2 empty:hidden">
        <Problem error={sending.error && texts.notSent(messageOf(sending.error))} />
        <Problem error={cancel.error} />
        {thread && thread.state !== 'agent' && <Notice kind="person">{texts.humanAnswers}</Notice>}
      </div>
      <Composer
        name={target.name}
        text={text}
        onText={change}
        writer={writer}
        onSend={() => send(text)}
        problem={problems[0] ? problemOf(problems[0]) : null}
        isSending={sending.isPending}
        running={
          running
            ? {
                // The button disappears when the turn has ended.
                onStop: () => {
                  cancel.mutate(running.id);
                  writer.current?.focus();
                },
                isStopping: cancel.isPending || cancel.data?.executionId === running.id,
              }
            : null
        }
        summary={set.filter(Boolean).join(' · ')}
        options={
          <Options
            declared={definition?.threadContextParams ?? []}
            typed={typed}
            onType={onType}
            ofThread={thread?.params ?? {}}
            problems={problems}
            isRouter={target.kind === 'router'}
            phoneNumber={phoneNumber}
            onPhoneNumber={setPhoneNumber}
            model={model}
            onModel={setModel}
          />
        }
      />
    </>
  );
}

/** Before the first message: what the agent suggests to write. */
function Beginning({
  target,
  definition,
  onSend,
}: {
  target: Choosable;
  definition: AgentDefinition | undefined;
  onSend: (message: string) => void;
}) {
  const texts = useTexts(playgroundCatalog);
  const suggestions = definition?.firstMessageSuggestions ?? [];
  return (
    <Empty title={texts.emptyTitle(target.name)}>
      <p>{definition?.description ?? texts.empty}</p>
      {suggestions.length > 0 && (
        <ul aria-label={texts.suggestions} className="space-y-2">
          {suggestions.map((suggestion) => (
            <li key={suggestion}>
              <Button
                className="h-auto max-w-full py-1.5 whitespace-normal"
                onClick={() => onSend(suggestion)}
              >
                {suggestion}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  );
}
