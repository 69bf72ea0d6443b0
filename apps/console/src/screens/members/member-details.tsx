import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/session';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { Button, CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { FormDialog } from '../../parts/form-dialog';
import { ShownEmail } from '../../parts/shown-email';
import { Notice } from '../../parts/states';
import type { Member } from './member-parts';
import { RolePick } from './role-pick';
import { membersCatalog } from './texts';

interface MemberDetailsProps {
  member: Member;
  /** It is the person who looks. */
  isSelf: boolean;
  onClose: () => void;
}

export function MemberDetails({ member, isSelf, onClose }: MemberDetailsProps) {
  const texts = useTexts(membersCatalog);
  const { states } = useTexts();
  const { isAdmin } = useWorkspace();
  const [isChanging, change] = useState(false);
  const { id, email, role, isManaged, createdAt, lastSeenAt } = member;
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.id, <CopyText text={id} />],
          [
            texts.email,
            email && (
              <CopyText text={email}>
                <ShownEmail of={member} />
              </CopyText>
            ),
          ],
          [texts.role, texts.roles[role]],
          [texts.joined, formatExact(createdAt)],
          [texts.lastSeen, lastSeenAt === null ? states.never : formatExact(lastSeenAt)],
        ]}
      />
      {isManaged && <p className="text-n11">{texts.managedHint}</p>}
      {isAdmin && (
        <div className="flex flex-wrap items-center gap-2">
          <ChangesLink target={id} />
          <span className="ml-auto flex flex-wrap gap-2">
            {!isManaged && <Button onClick={() => change(true)}>{texts.changeRole}</Button>}
            <Remove member={member} isSelf={isSelf} onRemoved={onClose} />
          </span>
        </div>
      )}
      {isChanging && <ChangeRole member={member} isSelf={isSelf} onClose={() => change(false)} />}
    </div>
  );
}

/** After a change of the own membership the page follows what the person may still do. */
function useOwnChange(isSelf: boolean) {
  const cache = useQueryClient();
  return () => (isSelf ? cache.invalidateQueries(meQuery) : undefined);
}

function ChangeRole({ member: { id, role }, isSelf, onClose }: MemberDetailsProps) {
  const texts = useTexts(membersCatalog);
  const { api } = useWorkspace();
  const follow = useOwnChange(isSelf);
  const [chosen, choose] = useState(role);
  const change = useChange(async () => {
    await api.changeMember({ id, role: chosen });
    onClose();
    await follow();
  }, 'members');
  return (
    <FormDialog
      title={texts.changeRole}
      action={texts.changeRole}
      run={change}
      isReady={chosen !== role}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      <RolePick role={chosen} onChange={choose} />
      {isSelf && chosen !== role && <Notice>{texts.ownRole}</Notice>}
    </FormDialog>
  );
}

function Remove({
  member,
  isSelf,
  onRemoved,
}: Pick<MemberDetailsProps, 'member' | 'isSelf'> & { onRemoved: () => void }) {
  const texts = useTexts(membersCatalog);
  const { api, organization } = useWorkspace();
  const follow = useOwnChange(isSelf);
  const name = member.name ?? member.email ?? member.id;
  const remove = useChange(async () => {
    await api.removeMember({ id: member.id });
    onRemoved();
    await follow();
  }, 'members');
  return (
    <ConfirmButton
      action={texts.remove}
      question={
        <>
          <p>
            {isSelf
              ? texts.removeSelf(organization.name)
              : texts.removeQuestion(name, organization.name)}
          </p>
          {member.isManaged && <p className="mt-2 text-n11">{texts.removeManaged}</p>}
        </>
      }
      name={name}
      change={remove}
    />
  );
}
