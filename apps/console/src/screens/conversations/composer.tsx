import type { JsonObject } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { Paperclip, X } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, type RefObject, useMemo, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, Choice, Field, Toggle } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { stored } from '../../stored';
import type { Thread } from './conversation';
import type { Outgoing } from './outbox';
import { conversationsCatalog } from './texts';

const maxFileBytes = 10 * 1024 * 1024;
const maxChars = 4_096;

type Item = Pick<Outgoing, 'kind' | 'body' | 'shown'>;
interface ComposerProps {
  thread: Thread;
  personId: string;
  writer: RefObject<HTMLTextAreaElement | null>;
  lastMessageId: string | undefined;
  onSend: (item: Item) => void;
}

/** Writes replies, notes and templates. What is half written is kept in the browser, for this person. */
export function Composer({ thread, personId, writer, lastMessageId, onSend }: ComposerProps) {
  const conversations = useTexts(conversationsCatalog);
  const { key } = useWorkspace();
  const draft = useMemo(() => stored(['draft', personId, ...key, thread.id].join('.')), [personId, key, thread.id]);
  const [text, setText] = useState(() => draft.get() ?? '');
  const [isNote, setNote] = useState(false);
  const [file, setFile] = useState<{ filename: string; data: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isChoosing, setChoosing] = useState(false);
  const change = (value: string) => {
    setText(value);
    draft.set(value === '' ? null : value);
  };
  const isClosed = thread.channel === 'whatsapp' && (thread.windowEndsAt ?? 0) < Date.now();
  const isBlocked = isClosed && !isNote;
  const isEmpty = text.trim() === '' && file === null;
  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (isEmpty || isBlocked) return;
    const content = { ...(text.trim() !== '' && { text: text.trim() }), ...(file && !isNote && { file }) };
    const shown = [file && !isNote ? file.filename : '', text.trim()].filter(Boolean).join('\n');
    onSend({
      kind: isNote ? 'note' : 'reply',
      body: isNote ? { text: text.trim() } : { ...content, lastMessageId },
      shown,
    });
    change('');
    setFile(null);
    writer.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) send(event);
    else if (event.key === 'Escape') event.currentTarget.blur();
  };
  const attach = async (chosen: File | undefined) => {
    setProblem(null);
    if (chosen === undefined) return;
    if (chosen.size > maxFileBytes) return setProblem(conversations.fileTooLarge);
    setFile({ filename: chosen.name, data: await toBase64(chosen) });
  };
  const isMine = thread.state === 'human' && thread.takenOverBy?.id === personId;
  const hint = isMine
    ? conversations.youAnswer
    : thread.state === 'human'
      ? conversations.answeredBy(thread.takenOverBy?.name ?? conversations.state.human)
      : conversations.agentAnswers(thread.agentSlug ?? conversations.state.agent);
  return (
    <form onSubmit={send} className="shrink-0 border-t border-n5 p-3">
      <p className={`mb-1.5 text-xs ${isMine ? 'text-person' : 'text-n11'}`}>{hint}</p>
      {isBlocked && (
        <div className="mb-2">
          <Notice>
            {conversations.windowClosed}
            <Button onClick={() => setChoosing(true)}>{conversations.chooseTemplate}</Button>
          </Notice>
        </div>
      )}
      {problem && <Notice kind="failed">{problem}</Notice>}
      <textarea
        ref={writer}
        aria-label={isNote ? conversations.note : conversations.reply}
        placeholder={isNote ? conversations.writeNote : conversations.writeReply}
        value={text}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        maxLength={maxChars}
        onChange={({ target }) => change(target.value)}
        onKeyDown={onKeyDown}
        className={`w-full resize-none rounded border p-2 text-base [@media(pointer:coarse)]:text-lg ${isNote ? 'border-waiting bg-waiting-soft' : 'border-n8 bg-n1'}`}
      />
      <div className="mt-1.5 flex flex-wrap items-center gap-2">
        <Toggle label={conversations.note} isOn={isNote} onChange={setNote} />
        {!isNote && thread.channel === 'whatsapp' && (
          <>
            {file === null ? (
              <label
                title={conversations.attach}
                className="tap inline-flex h-8 w-8 cursor-pointer items-center justify-center rounded focus-within:outline-2 focus-within:outline-accent hover:bg-n4"
              >
                <Paperclip aria-hidden size={16} />
                <span className="sr-only">{conversations.attach}</span>
                <input type="file" className="sr-only" onChange={({ target }) => void attach(target.files?.[0])} />
              </label>
            ) : (
              <span className="inline-flex min-w-0 items-center gap-1 rounded bg-n3 pl-2">
                <span className="max-w-40 truncate">{file.filename}</span>
                <Button look="quiet" icon={X} label={conversations.removeFile} onClick={() => setFile(null)} />
              </span>
            )}
            <Button look="quiet" onClick={() => setChoosing(true)}>
              {conversations.template}
            </Button>
          </>
        )}
        <span className="ml-auto text-xs text-n10 max-sm:hidden">⌘⏎</span>
        <Button type="submit" look="primary" disabled={isEmpty || isBlocked} className="max-sm:ml-auto">
          {isNote ? conversations.sendNote : conversations.send}
        </Button>
      </div>
      {isChoosing && (
        <Templates
          onClose={() => setChoosing(false)}
          onSend={(item) => (onSend(item), setChoosing(false))}
          lastMessageId={lastMessageId}
        />
      )}
    </form>
  );
}

async function toBase64(file: Blob): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}

interface Template {
  name: string;
  language: string;
  body: string;
}
const toTemplate = ({ name, language, components }: JsonObject): Template => {
  const body = (components as { type?: string; text?: string }[] | undefined)?.find(
    ({ type }) => type?.toUpperCase() === 'BODY',
  );
  return { name: String(name), language: String(language), body: body?.text ?? '' };
};
/** The variables of a template, `{{1}}` or `{{name}}`, in their order. */
const variablesOf = ({ body }: Template): string[] => [
  ...new Set([...body.matchAll(/\{\{\s*([\w.]+)\s*\}\}/g)].map((found) => found[1]!)),
];

function Templates({
  onClose,
  onSend,
  lastMessageId,
}: {
  onClose: () => void;
  onSend: (item: Item) => void;
  lastMessageId: string | undefined;
}) {
  const conversations = useTexts(conversationsCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending } = useQuery({
    queryKey: [...key, 'templates'],
    queryFn: async () => {
      const channels = (await api.listChannels()).data.filter(({ status }) => status === 'connected');
      const lists = await Promise.all(channels.map(({ id }) => api.listChannelTemplates({ id })));
      return lists
        .flatMap((list) => list.data)
        .filter(({ status }) => status === 'APPROVED')
        .map(toTemplate);
    },
    staleTime: 60_000,
  });
  const [at, setAt] = useState(0);
  const template = data?.[at];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.stopPropagation();
    const values = new FormData(event.currentTarget);
    const variables = variablesOf(template!);
    const parameters = variables.map((name) => ({
      type: 'text',
      ...(/^\d+$/.test(name) ? {} : { parameter_name: name }),
      text: String(values.get(name)),
    }));
    const components = parameters.length > 0 ? [{ type: 'body', parameters }] : undefined;
    const shown = template!.body.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => String(values.get(name)));
    onSend({
      kind: 'reply',
      body: {
        template: { name: template!.name, language: template!.language, components: components as never },
        lastMessageId,
      },
      shown,
    });
  };
  return (
    <Dialog title={conversations.chooseTemplate} onClose={onClose}>
      {isPending ? (
        <Skeleton rows={3} />
      ) : error ? (
        <Failure error={error} />
      ) : template === undefined ? (
        <p className="text-n11">{conversations.noTemplates}</p>
      ) : (
        <form onSubmit={submit} className="space-y-3">
          <Choice
            className="w-full"
            label={conversations.template}
            value={String(at)}
            onChange={({ target }) => setAt(Number(target.value))}
            options={data!.map(({ name, language }, index) => [String(index), `${name} (${language})`] as const)}
          />
          <p className="rounded bg-n3 p-2 whitespace-pre-wrap">{template.body}</p>
          {variablesOf(template).map((name, index) => (
            <Field
              key={`${at} ${name}`}
              name={name}
              label={/^\d+$/.test(name) ? conversations.templateValue(index + 1) : name}
              required
              maxLength={1_000}
            />
          ))}
          <Button type="submit" look="primary">
            {conversations.send}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
