import { X } from 'lucide-react';
import type { FormEvent } from 'react';
import { usePeople } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Problem } from '../../parts/states';
import { Ago } from '../../parts/time';
import { CardSection } from './card-section';
import { contactCatalog } from './contact-texts';
import type { Thread } from './names';

/** Who looks after a conversation, its labels, and its numbers. */
export function ThreadFacts({ thread }: { thread: Thread }) {
  const { states } = useTexts();
  const texts = useTexts(contactCatalog);
  const { api } = useWorkspace();
  const people = usePeople();
  const change = useChange(
    (changes: { labels?: string[]; assigneeId?: string | null }) =>
      api.changeThread({ id: thread.id, ...changes }),
    'thread',
    'threads',
    'thread-counts',
  );
  return (
    <CardSection title={texts.thread}>
      <Problem error={change.error} />
      <Choice
        className="w-full"
        label={texts.assignee}
        value={thread.assigneeId ?? ''}
        onChange={({ target }) => change.mutate({ assigneeId: target.value || null })}
        options={[
          ['', `${texts.assignee}: ${texts.unassigned}`],
          ...people.map(({ id, name }) => [id, name] as const),
        ]}
      />
      <Labels labels={thread.labels} onChange={(labels) => change.mutate({ labels })} />
      <Facts
        facts={[
          [texts.agent, thread.agentSlug ?? states.noValue],
          [texts.firstMessage, <Ago key="first" at={thread.createdAt} />],
          [texts.received, formatNumber(thread.turnCount)],
        ]}
      />
    </CardSection>
  );
}

const maxLabels = 20;

function Labels({
  labels,
  onChange,
}: {
  labels: readonly string[];
  onChange: (labels: string[]) => void;
}) {
  const texts = useTexts(contactCatalog);
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const label = String(new FormData(event.currentTarget).get('label')).trim();
    if (label !== '' && !labels.includes(label)) onChange([...labels, label]);
    event.currentTarget.reset();
  };
  return (
    <>
      {labels.length > 0 && (
        <ul aria-label={texts.labels} className="flex flex-wrap gap-1">
          {labels.map((label) => (
            <li
              key={label}
              className="inline-flex max-w-full items-center gap-0.5 rounded bg-n4 pl-1.5"
            >
              <span className="truncate">{label}</span>
              <button
                type="button"
                aria-label={texts.removeLabel(label)}
                onClick={() => onChange(labels.filter((one) => one !== label))}
                className="tap inline-flex size-6 items-center justify-center rounded hover:bg-n6"
              >
                <X aria-hidden size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {labels.length < maxLabels && (
        <form onSubmit={add}>
          <input
            name="label"
            aria-label={texts.addLabel}
            placeholder={texts.addLabel}
            maxLength={50}
            className="tap h-8 w-full rounded border border-n7 bg-n1 px-2"
          />
        </form>
      )}
    </>
  );
}
