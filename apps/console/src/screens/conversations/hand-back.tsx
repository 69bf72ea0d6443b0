import type { FormEvent } from 'react';
import { messageOf } from '../../api/session';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Notice } from '../../parts/states';
import { stored } from '../../stored';
import { conversationsCatalog } from './texts';

/** Lets the agent answer again, with a note for it. What is half written is kept until it is sent. */
export function HandBack({ threadId, personId, onClose }: { threadId: string; personId: string; onClose: () => void }) {
  const conversations = useTexts(conversationsCatalog);
  const { states } = useTexts();
  const { api, key } = useWorkspace();
  const kept = stored(['draft-hand-back', personId, ...key, threadId].join('.'));
  const resume = useChange(
    async (note: string) => {
      await api.resumeThread({ id: threadId, ...(note && { note }) });
      kept.set(null);
      onClose();
    },
    'thread',
    'threads',
    'thread-counts',
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    resume.mutate(String(new FormData(event.currentTarget).get('note') ?? '').trim());
  };
  return (
    <Dialog title={conversations.handBackTitle} onClose={onClose}>
      <form onSubmit={submit} className="space-y-3">
        <p>{conversations.handBackExplained}</p>
        <label className="block">
          <span className="mb-1 block text-n11">{conversations.handBackNote}</span>
          <textarea
            name="note"
            rows={4}
            autoFocus
            maxLength={4_000}
            defaultValue={kept.get() ?? ''}
            onChange={({ target }) => kept.set(target.value || null)}
            className="w-full rounded border border-n8 bg-n1 p-2 text-base [@media(pointer:coarse)]:text-lg"
          />
        </label>
        {resume.error !== null && (
          <div role="alert">
            <Notice kind="failed">{messageOf(resume.error)}</Notice>
          </div>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          <Button type="submit" look="primary" isBusy={resume.isPending}>
            {conversations.handBack}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
