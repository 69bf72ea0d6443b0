import { MapPin, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatExact, formatTime, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { LinkedText } from '../../parts/linked-text';
import { Ticks, Undelivered } from './delivery';
import { Media } from './media';
import { filesIn, phoneOf, withoutFiles } from './names';
import { conversationsCatalog } from './texts';
import type { ChannelMessage, Message } from './timeline';
import { ShowAll, useWholeText } from './whole-text';

export const looks = {
  user: 'mr-auto bg-n3',
  assistant: 'ml-auto bg-accent-soft',
  person: 'ml-auto bg-person-soft',
  note: 'mx-auto w-full border border-dashed border-waiting bg-waiting-soft',
  system: 'mx-auto w-full border border-dashed border-n7',
};

interface BubbleProps {
  look: keyof typeof looks;
  /** Who wrote it, where it is not clear from its side. */
  by?: string;
  at: number;
  delivery?: { status: string } | null;
  /** What went wrong, below the time. */
  below?: ReactNode;
  children: ReactNode;
}

function Bubble({ look, by, at, delivery, below, children }: BubbleProps) {
  return (
    <div className={`w-fit max-w-[85%] min-w-24 rounded px-3 py-2 ${looks[look]}`}>
      {by && <p className="text-xs text-n11">{by}</p>}
      {children}
      <p className="mt-0.5 flex items-center justify-end gap-1 text-xs text-n11">
        <time dateTime={new Date(at).toISOString()} title={formatExact(at)}>
          {formatTime(at)}
        </time>
        {delivery && <Ticks status={delivery.status} />}
      </p>
      {below}
    </div>
  );
}

function BubbleText({ text }: { text: string }) {
  return (
    <p dir="auto" className="text-base whitespace-pre-wrap [@media(pointer:coarse)]:text-lg">
      <LinkedText text={text} />
    </p>
  );
}

interface MessageBubbleProps {
  threadId: string;
  message: Message;
  sent: ChannelMessage | null;
  personId: string;
}

/** A message of the thread. */
export function MessageBubble({ threadId, message, sent, personId }: MessageBubbleProps) {
  const conversations = useTexts(conversationsCatalog);
  const whole = useWholeText(threadId, message);
  const { role, author, createdAt, delivery } = message;
  const look = role === 'assistant' && author !== null ? 'person' : role;
  const writer =
    author === null
      ? null
      : author.id === personId
        ? conversations.you
        : author.type === 'phone'
          ? conversations.phone
          : author.name;
  const kind = {
    note: conversations.teamNote,
    system: conversations.handedBack,
    user: null,
    assistant: null,
  }[role];
  // A file without a text has its type as its text.
  const isFileOnly = Boolean(sent?.media) && message.content === `[${sent!.type}]`;
  const isOfChannel = role === 'user' && message.channelMessageId !== null;
  const files = isOfChannel && !sent?.media ? filesIn(message.content) : [];
  const template =
    sent?.type === 'template' ? /^\[template (.+)\]$/.exec(message.content)?.[1] : undefined;
  const text =
    isFileOnly || template !== undefined ? '' : isOfChannel ? withoutFiles(whole.text) : whole.text;
  return (
    <Bubble
      look={look}
      by={[writer, kind].filter(Boolean).join(' · ')}
      at={createdAt}
      delivery={delivery}
      below={
        delivery ? (
          <Undelivered sent={delivery} />
        ) : (
          sent?.direction === 'inbound' && <Undelivered sent={sent} isInbound />
        )
      }
    >
      {sent?.media && <Media sent={sent} />}
      {sent?.media && /^(audio|voice)$/.test(sent.type) && text !== '' && (
        <p className="mt-1 text-xs text-n11">{conversations.transcript}</p>
      )}
      {files.length > 0 && (
        <p className="text-n11">{files.map((one) => conversations.types[one]).join(', ')}</p>
      )}
      {template !== undefined && (
        <p className="text-base">{`${conversations.types.template}: ${template}`}</p>
      )}
      {text !== '' && <BubbleText text={text} />}
      {whole.isCut && <ShowAll {...whole} />}
    </Bubble>
  );
}

interface SentBubbleProps {
  sent: ChannelMessage;
  /** The beginning of the message that a reaction belongs to. */
  quoted: string | null;
}

/** A message of the channel that the thread does not have. */
export function SentBubble({ sent, quoted }: SentBubbleProps) {
  const conversations = useTexts(conversationsCatalog);
  const isInbound = sent.direction === 'inbound';
  const kind = conversations.types[sent.type];
  return (
    <Bubble
      look={isInbound ? 'user' : 'assistant'}
      by={isInbound ? undefined : [conversations.automatic, kind].filter(Boolean).join(' · ')}
      at={sent.createdAt}
      delivery={isInbound ? null : sent}
      below={<Undelivered sent={sent} isInbound={isInbound} />}
    >
      {sent.media && <Media sent={sent} />}
      {sent.location ? (
        <Place location={sent.location} />
      ) : sent.reaction ? (
        <Reaction emoji={sent.reaction.emoji} quoted={quoted} />
      ) : sent.contacts ? (
        <Contacts contacts={sent.contacts} />
      ) : sent.text !== null ? (
        <BubbleText text={sent.text} />
      ) : (
        sent.media === null && <p className="text-n11">{kind ?? sent.type}</p>
      )}
    </Bubble>
  );
}

function Place({ location }: { location: NonNullable<ChannelMessage['location']> }) {
  const conversations = useTexts(conversationsCatalog);
  const { latitude, longitude, name, address } = location;
  const place = `${latitude},${longitude}`;
  return (
    <div>
      <p className="flex items-center gap-1 text-xs text-n11">
        <MapPin aria-hidden size={14} /> {conversations.types.location}
      </p>
      <p className="text-base whitespace-pre-wrap">{[name, address].filter(Boolean).join('\n')}</p>
      <p className="flex flex-wrap items-center gap-x-3">
        <CopyText text={place} />
        <a
          href={`https://www.google.com/maps/search/?api=1&query=${encodeURIComponent(place)}`}
          target="_blank"
          rel="noopener noreferrer"
          className="tap inline-flex items-center text-accent underline"
        >
          {conversations.openMap}
        </a>
      </p>
    </div>
  );
}

function Reaction({ emoji, quoted }: { emoji: string; quoted: string | null }) {
  const conversations = useTexts(conversationsCatalog);
  return (
    <div>
      {quoted !== null && (
        <p className="truncate border-l-2 border-n7 pl-2 text-xs text-n11">{quoted}</p>
      )}
      <p className="text-base">
        {emoji === '' ? conversations.reactionRemoved : conversations.reacted(emoji)}
      </p>
    </div>
  );
}

function Contacts({ contacts }: { contacts: NonNullable<ChannelMessage['contacts']> }) {
  const conversations = useTexts(conversationsCatalog);
  return (
    <ul>
      {contacts.map(({ name, phoneNumbers }, at) => (
        <li key={at}>
          <p className="flex items-center gap-1 text-base">
            <UserRound aria-hidden size={14} /> {name ?? conversations.unnamed}
          </p>
          {phoneNumbers.map((number) => (
            <p key={number}>
              <CopyText text={number}>{phoneOf(number)}</CopyText>
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}
