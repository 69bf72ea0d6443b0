import type { InputOf } from '@parley/client/manage';
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { FormDialog } from '../../parts/form-dialog';
import { ShownOnce, ShownOnceDialog } from '../../parts/shown-once';
import { type Role, RolePick } from './role-pick';
import { membersCatalog } from './texts';

export function Invite({ onClose }: { onClose: () => void }) {
  const texts = useTexts(membersCatalog);
  const { api } = useWorkspace();
  const [role, choose] = useState<Role>('member');
  const invite = useChange(
    (input: InputOf<'createInvitation'>) => api.createInvitation(input),
    'invitations',
  );
  if (invite.data) {
    const { link, email, isEmailed } = invite.data;
    return (
      <ShownOnceDialog title={texts.invited} onClose={onClose}>
        <ShownOnce label={texts.link} value={link} warning={texts.linkOnce} />
        {email !== null && <p>{isEmailed ? texts.emailed(email) : texts.notEmailed(email)}</p>}
      </ShownOnceDialog>
    );
  }
  return (
    <FormDialog
      title={texts.inviteTitle}
      action={texts.invite}
      run={invite}
      onSubmit={({ email }) => invite.mutate({ role, ...(email && { email }) })}
      onClose={onClose}
    >
      <RolePick role={role} onChange={choose} />
      <Field
        label={texts.inviteEmail}
        hint={texts.inviteHint}
        name="email"
        type="email"
        maxLength={254}
        autoComplete="off"
      />
    </FormDialog>
  );
}
