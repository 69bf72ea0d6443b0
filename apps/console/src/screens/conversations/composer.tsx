import { SendHorizontal } from 'lucide-react';
import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useMemo,
  useState,
} from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button, Toggle } from '../../parts/controls';
import { Notice, Problem } from '../../parts/states';
import { useTick } from '../../parts/time';
import { stored } from '../../stored';
import { AttachButtons, AttachmentPreview, useDroppedFiles } from './attachment';
import { composerCatalog } from './composer-texts';
import type { Thread } from './names';
import type { NewOutgoing } from './outbox';
import { Templates } from './templates';
import { useAttachment } from './use-attachment';

const maxChars = 4_096;

interface ComposerProps {
  thread: Thread;
  personId: string;
  writer: RefObject<HTMLTextAreaElement | null>;
  draft: Draft;
  lastMessageId: string | undefined;
  onSend: (item: NewOutgoing) => void;
  /** Called while a reply is written; false after it was sent. */
  onTyping: (isTyping: boolean) => void;
}

/** What is half written. It is kept in the browser, for one person and thread. */
export function useDraft(threadId: string, personId: string) {
  const { key } = useWorkspace();
  const [keptText, keptNote] = useMemo(
    () =>
      ['draft', 'draft-note'].map((name) =>
        stored([name, personId, ...key, threadId].join('.')),
      ) as [Kept, Kept],
    [personId, key, threadId],
  );
  const [text, setText] = useState(() => keptText.get() ?? '');
  const [isNote, setNote] = useState(() => keptNote.get() !== null);
  return {
    text,
    isNote,
    write: (value: string) => {
      setText(value);
      keptText.set(value === '' ? null : value);
    },
    // A note that was begun must not become a reply.
    writeNote: (value: boolean) => {
      setNote(value);
      keptNote.set(value ? 'yes' : null);
    },
  };
}
type Kept = ReturnType<typeof stored>;
type Draft = ReturnType<typeof useDraft>;

/** Writes replies, notes and templates. */
export function Composer({
  thread,
  personId,
  writer,
  draft,
  lastMessageId,
  onSend,
  onTyping,
}: ComposerProps) {
  const composer = useTexts(composerCatalog);
  useTick(30_000);
  const { text, isNote } = draft;
  const isWhatsapp = thread.channel === 'whatsapp';
  const { attachment, problem, attach, remove } = useAttachment();
  const [isChoosing, setChoosing] = useState(false);
  const isBlocked = isWhatsapp && (thread.windowEndsAt ?? 0) < Date.now() && !isNote;
  const mayAttach = isWhatsapp && !isNote && !isBlocked;
  const file = mayAttach ? attachment : null;
  const isEmpty = text.trim() === '' && file === null;
  const isSoundWithText =
    file !== null && file.file.type.startsWith('audio/') && text.trim() !== '';
  const isReady = !isEmpty && !isBlocked && !isSoundWithText;
  const isOver = useDroppedFiles(mayAttach, (files) => void attach(files));

  const send = (event?: FormEvent | KeyboardEvent) => {
    event?.preventDefault();
    if (!isReady) return;
    const written = text.trim();
    const { name: filename = '' } = file?.file ?? {};
    onSend({
      kind: isNote ? 'note' : 'reply',
      body: isNote
        ? { text: written }
        : {
            ...(written !== '' && { text: written }),
            ...(file !== null && { file: { filename, data: file.data } }),
            lastMessageId,
          },
      shown: [filename, written].filter(Boolean).join('\n'),
    });
    draft.write('');
    draft.writeNote(false);
    onTyping(false);
    remove();
    writer.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && !event.nativeEvent.isComposing)
      send(event);
  };
  const onPaste = (event: ClipboardEvent) => {
    if (!mayAttach || event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void attach(event.clipboardData.files);
  };
  return (
    <>
      <form
        onSubmit={send}
        className={`shrink-0 border-t border-n5 px-3 pt-2 pb-[max(0.75rem,env(safe-area-inset-bottom))] ${isOver ? 'bg-accent-soft' : ''}`}
      >
        <Hint thread={thread} personId={personId} />
        {isOver && <p className="mb-2 text-center text-accent">{composer.dropHere}</p>}
        {isBlocked && (
          <div className="mb-2">
            <Notice>
              {composer.windowClosed}
              <Button onClick={() => setChoosing(true)}>{composer.chooseTemplate}</Button>
            </Notice>
          </div>
        )}
        <div className="mb-2 empty:hidden">
          <Problem error={problem ?? (isSoundWithText ? composer.soundWithText : null)} />
        </div>
        {file !== null && <AttachmentPreview attachment={file} onRemove={remove} />}
        <textarea
          ref={writer}
          dir="auto"
          aria-label={isNote ? composer.note : composer.reply}
          placeholder={isNote ? composer.writeNote : composer.writeReply}
          value={text}
          rows={Math.min(6, Math.max(2, text.split('\n').length))}
          maxLength={maxChars}
          onChange={({ target }) => {
            draft.write(target.value);
            if (!isNote) onTyping(target.value !== '');
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className={`block max-h-40 w-full resize-none rounded border p-2 text-base [@media(pointer:coarse)]:text-lg ${isNote ? 'border-waiting bg-waiting-soft' : 'border-n8 bg-n1'}`}
        />
        {text.length > maxChars - 300 && (
          <p role="status" className="text-xs text-n11">
            {composer.length(formatNumber(text.length), formatNumber(maxChars))}
          </p>
        )}
        <div className="mt-1.5 flex items-center gap-1 sm:gap-2">
          {mayAttach && <AttachButtons onFiles={(files) => void attach(files)} />}
          <Toggle label={composer.note} isOn={isNote} onChange={draft.writeNote} />
          {isWhatsapp && !isNote && (
            <Button look="quiet" onClick={() => setChoosing(true)}>
              {composer.template}
            </Button>
          )}
          <kbd className="ml-auto font-sans text-xs text-n10 [@media(pointer:coarse)]:invisible">
            ⌘⏎
          </kbd>
          <Button type="submit" look="primary" icon={SendHorizontal} disabled={!isReady}>
            {isNote ? composer.sendNote : composer.send}
          </Button>
        </div>
      </form>
      {isChoosing && (
        <Templates
          onClose={() => setChoosing(false)}
          onSend={(item) => {
            onSend(item);
            setChoosing(false);
          }}
          lastMessageId={lastMessageId}
        />
      )}
    </>
  );
}

/** Who answers, and what a reply changes. */
function Hint({ thread, personId }: { thread: Thread; personId: string }) {
  const composer = useTexts(composerCatalog);
  const isMine = thread.state === 'human' && thread.takenOverBy?.id === personId;
  const text = isMine
    ? composer.youAnswer
    : thread.state === 'human'
      ? composer.answeredBy(thread.takenOverBy?.name ?? composer.someone)
      : thread.state === 'waiting'
        ? null
        : composer.agentAnswers(thread.agentSlug ?? composer.someoneAgent);
  return text && <p className={`mb-1.5 text-xs ${isMine ? 'text-person' : 'text-n11'}`}>{text}</p>;
}
