import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Area } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { stored } from '../../stored';
import { conversationsCatalog } from './texts';

/** Lets the agent answer again, with a note for it. What is half written is kept until it is sent. */
export function HandBack({ threadId, personId, onClose }: { threadId: string; personId: string; onClose: () => void }) {
  const conversations = useTexts(conversationsCatalog);
  const { api, key } = useWorkspace();
  const kept = stored(['draft-hand-back', personId, ...key, threadId].join('.'));
  const resume = useChange(
    async (note: string) => {
      await api.resumeThread({ id: threadId, ...(note && { note }) });
      kept.set(null);
      onClose();
    },
    ...['thread', 'threads', 'thread-counts'],
  );
  return (
    <FormDialog
      title={conversations.handBackTitle}
      action={conversations.handBack}
      run={resume}
      onSubmit={({ note = '' }) => resume.mutate(note.trim())}
      onClose={onClose}
    >
      <p>{conversations.handBackExplained}</p>
      <Area
        label={conversations.handBackNote}
        name="note"
        rows={4}
        maxLength={4_000}
        defaultValue={kept.get() ?? ''}
        onChange={({ target }) => kept.set(target.value || null)}
      />
    </FormDialog>
  );
}
