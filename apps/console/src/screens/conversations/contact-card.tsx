import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { Link } from '../../parts/link';
import { Failure, Skeleton } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { useQuery } from '@tanstack/react-query';
import { executionsCatalog } from '../executions/texts';
import { ContactEntity } from './contact-entity';
import { contactCatalog } from './contact-texts';
import { CardSection } from './card-section';
import { type Thread, nameOf, phoneOf } from './names';
import { conversationsCatalog } from './texts';
import { ThreadFacts } from './thread-facts';
import { useContact } from './use-contact';

/** The contact on the channel, its entity, and the conversation. */
export function ContactCard({ thread }: { thread: Thread }) {
  const texts = useTexts(contactCatalog);
  const conversations = useTexts(conversationsCatalog);
  const { contact, own } = useContact(thread);
  const { phoneNumber = null, aliases = [] } = contact.data ?? {};
  const others = aliases.filter((alias) => alias !== phoneNumber && alias !== contact.data?.id);
  return (
    <div className="space-y-5 p-3 pb-[max(0.75rem,env(safe-area-inset-bottom))]">
      <CardSection title={texts.contact}>
        <p dir="auto" className="text-lg font-medium">
          {nameOf(thread) ?? conversations.unnamed}
        </p>
        <Facts
          facts={[
            [texts.phone, phoneNumber && <CopyText text={phoneOf(phoneNumber)} />],
            [
              texts.alias,
              others.length === 0 ? null : (
                <ul>
                  {others.map((alias) => (
                    <li key={alias}>
                      <CopyText text={alias} />
                    </li>
                  ))}
                </ul>
              ),
            ],
            [
              texts.externalId,
              thread.contactId === null && thread.externalId !== null ? (
                <CopyText text={thread.externalId} />
              ) : null,
            ],
            [texts.id, <CopyText key="id" text={thread.id} />],
          ]}
        />
        {contact.error && <Failure error={contact.error} onRetry={contact.refetch} />}
      </CardSection>
      {thread.entity !== null &&
        (own.isPending ? (
          <Skeleton rows={3} />
        ) : own.error ? (
          <Failure error={own.error} onRetry={own.refetch} />
        ) : own.data === null ? (
          <p className="text-n11">{texts.entityGone}</p>
        ) : (
          <ContactEntity entity={own.data} />
        ))}
      <ThreadFacts thread={thread} />
      <Executions threadId={thread.id} />
      {Object.keys(thread.params).length > 0 && <Json value={thread.params} label={texts.params} />}
    </div>
  );
}

function Executions({ threadId }: { threadId: string }) {
  const texts = useTexts(contactCatalog);
  const executions = useTexts(executionsCatalog);
  const { api, key } = useWorkspace();
  const { data } = useQuery({
    queryKey: [...key, 'thread', threadId, 'executions'],
    queryFn: ({ signal }) => api.listExecutions({ thread: threadId, limit: 5 }, { signal }),
    refetchInterval: 5_000,
  });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <CardSection title={texts.executions}>
      <ul>
        {data.data.map(({ id, status, createdAt }) => (
          <li key={id}>
            <Link
              to="executions/$executionId"
              params={{ executionId: id }}
              className="tap flex items-center justify-between gap-2 rounded px-1 py-1 hover:bg-n3"
            >
              <Status status={status} text={executions.statuses[status]} />
              <Ago at={createdAt} className="text-xs text-n11" />
            </Link>
          </li>
        ))}
      </ul>
    </CardSection>
  );
}
