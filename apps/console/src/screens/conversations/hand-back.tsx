import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Area } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { stored } from '../../stored';
import { conversationsCatalog } from './texts';

interface HandBackProps {
  threadId: string;
  personId: string;
  /** A reply that is stored later would take the conversation over again. */
  isSending: boolean;
  onClose: () => void;
}

/**
 * Lets the agent answer again, with a note for it. What is half written is kept until it is sent.
 */
export function HandBack({ threadId, personId, isSending, onClose }: HandBackProps) {
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
      isReady={!isSending}
      run={resume}
      onSubmit={({ note = '' }) => resume.mutate(note.trim())}
      onClose={onClose}
    >
      <p>{isSending ? conversations.sentFirst : conversations.handBackExplained}</p>
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
