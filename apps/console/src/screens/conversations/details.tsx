import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { FormEvent, ReactNode } from 'react';
import { usePeople } from '../../api/queries';
import { messageOf } from '../../api/session';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Choice, CopyText } from '../../parts/controls';
import { Json } from '../../parts/json';
import { Notice } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import type { Thread } from './conversation';
import { executionsCatalog } from '../executions/texts';
import { conversationsCatalog } from './texts';

/** What is known of a contact and its thread. */
export function Details({ thread }: { thread: Thread }) {
  const { states } = useTexts();
  const conversations = useTexts(conversationsCatalog);
  const executionTexts = useTexts(executionsCatalog);
  const { api, key } = useWorkspace();
  const place = usePlace();
  const client = useQueryClient();
  const { data: members } = usePeople();
  const { data: executions } = useQuery({
    queryKey: [...key, 'thread', thread.id, 'executions'],
    queryFn: () => api.listExecutions({ thread: thread.id, limit: 5 }),
  });
  const change = useMutation({
    mutationFn: (changes: { labels?: string[]; assigneeId?: string | null }) =>
      api.changeThread({ id: thread.id, ...changes }),
    onSettled: () => client.invalidateQueries({ queryKey: [...key, 'thread', thread.id] }),
  });
  const addLabel = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const label = String(new FormData(event.currentTarget).get('label')).trim();
    if (label !== '' && !thread.labels.includes(label)) change.mutate({ labels: [...thread.labels, label] });
    event.currentTarget.reset();
  };
  return (
    <div className="space-y-4 p-3">
      {change.error && <Notice kind="failed">{messageOf(change.error)}</Notice>}
      <dl className="space-y-2">
        <Fact name={conversations.contact}>
          {thread.externalId === null ? states.noValue : <CopyText text={thread.externalId} />}
        </Fact>
        <Fact name={conversations.agentLabel}>{thread.agentSlug ?? states.noValue}</Fact>
        <Fact name={conversations.firstMessage}>
          <Ago at={thread.createdAt} />
        </Fact>
        <Fact name={conversations.received}>{formatNumber(thread.turnCount)}</Fact>
        <Fact name={conversations.assignee}>
          <Choice
            className="w-full"
            label={conversations.assignee}
            value={thread.assigneeId ?? ''}
            onChange={({ target }) => change.mutate({ assigneeId: target.value || null })}
            options={[
              ['', conversations.unassigned],
              ...(members?.data ?? []).map(({ id, name, email }) => [id, name ?? email ?? id] as const),
            ]}
          />
        </Fact>
        <Fact name={conversations.labels}>
          <ul className="flex flex-wrap gap-1">
            {thread.labels.map((label) => (
              <li key={label} className="inline-flex items-center gap-0.5 rounded bg-n4 pl-1.5">
                {label}
                <button
                  type="button"
                  aria-label={conversations.removeLabel(label)}
                  onClick={() => change.mutate({ labels: thread.labels.filter((one) => one !== label) })}
                  className="tap inline-flex size-5 items-center justify-center rounded hover:bg-n6"
                >
                  <X aria-hidden size={12} />
                </button>
              </li>
            ))}
          </ul>
          <form onSubmit={addLabel}>
            <input
              name="label"
              aria-label={conversations.addLabel}
              placeholder={conversations.addLabel}
              maxLength={50}
              className="tap mt-1 h-8 w-full rounded border border-n7 bg-n1 px-2"
            />
          </form>
        </Fact>
      </dl>
      {executions && executions.data.length > 0 && (
        <section>
          <h3 className="mb-1 text-n11">{conversations.recentExecutions}</h3>
          <ul>
            {executions.data.map(({ id, status, createdAt }) => (
              <li key={id}>
                <Link
                  to="/$organization/$environment/executions/$executionId"
                  params={{ ...place, executionId: id }}
                  search={{}}
                  className="tap flex items-center justify-between gap-2 rounded px-1 py-1 hover:bg-n3"
                >
                  <Status status={status} text={executionTexts.statuses[status]} />
                  <Ago at={createdAt} className="text-xs text-n11" />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {Object.keys(thread.params).length > 0 && <Json value={thread.params} label={conversations.params} />}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-n11">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
