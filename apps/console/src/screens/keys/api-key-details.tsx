import { useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, useTexts } from '../../i18n';
import { useChange } from '../../api/use-change';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { Button, CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Pick } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { Ago } from '../../parts/time';
import { CreatedApiKey } from './create-api-key';
import { type ApiKey, KeyStatus } from './key-parts';
import { isValid } from './key-status';
import { keysCatalog } from './texts';

/** One key: its rights and its life, rotation and revocation. */
export function ApiKeyDetails({ item }: { item: ApiKey }) {
  const texts = useTexts(keysCatalog);
  const { states } = useTexts();
  const { api } = useWorkspace();
  const [isRotating, rotate] = useState(false);
  const revoke = useChange(() => api.revokeApiKey({ id: item.id }), 'api-keys');
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.id, <CopyText text={item.id} />],
          [texts.prefix, <code className="font-mono text-xs">{item.prefix}…</code>],
          [texts.status, <KeyStatus of={item} />],
          [texts.permissions, item.permissions.join(', ')],
          [texts.role, item.role ?? states.none],
          [texts.created, formatExact(item.createdAt)],
          [texts.lastUsed, item.lastUsedAt === null ? states.never : formatExact(item.lastUsedAt)],
          [texts.expires, item.expiresAt === null ? states.never : formatExact(item.expiresAt)],
          [texts.revoked, item.revokedAt !== null && formatExact(item.revokedAt)],
        ]}
      />
      <div className="flex flex-wrap items-center gap-2">
        <ChangesLink target={item.id} />
        {isValid(item) && (
          <span className="ml-auto flex gap-2">
            <Button onClick={() => rotate(true)}>{texts.rotate}</Button>
            <ConfirmButton
              action={texts.revoke}
              question={
                <>
                  <p>{texts.revokeQuestion(item.name)}</p>
                  <p className="mt-2 text-n11">
                    {texts.usedLast}{' '}
                    {item.lastUsedAt === null ? states.never : <Ago at={item.lastUsedAt} />}
                  </p>
                </>
              }
              name={item.name}
              change={revoke}
            />
          </span>
        )}
      </div>
      {isRotating && <Rotate item={item} onClose={() => rotate(false)} />}
    </div>
  );
}

function Rotate({ item, onClose }: { item: ApiKey; onClose: () => void }) {
  const texts = useTexts(keysCatalog);
  const { api } = useWorkspace();
  const rotate = useChange(
    (overlapSeconds: number) => api.rotateApiKey({ id: item.id, overlapSeconds }),
    'api-keys',
  );
  if (rotate.data) return <CreatedApiKey created={rotate.data} onClose={onClose} />;
  return (
    <FormDialog
      title={texts.rotateTitle(item.name)}
      action={texts.rotate}
      run={rotate}
      onSubmit={({ overlap }) => rotate.mutate(Number(overlap))}
      onClose={onClose}
    >
      <p>{texts.rotateQuestion}</p>
      <Pick
        label={texts.overlap}
        name="overlap"
        defaultValue="86400"
        options={Object.entries(texts.overlaps)}
      />
    </FormDialog>
  );
}
