import type { InputOf, ResultOf } from '@parley/client/manage';
import { useState } from 'react';
import { useAgents, useRoles } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { Check, Pick } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { Json } from '../../parts/json';
import { ShownOnce, ShownOnceDialog } from '../../parts/shown-once';
import { keysCatalog } from './texts';

type Permission = InputOf<'createApiKey'>['permissions'][number];
const permissions: readonly Permission[] = ['chat', 'data', 'sync', 'manage', '*'];

export function CreateApiKey({ onClose }: { onClose: () => void }) {
  const texts = useTexts(keysCatalog);
  const { api } = useWorkspace();
  const roles = useRoles().items;
  const [chosen, choose] = useState<readonly Permission[]>(['chat']);
  const create = useChange((input: InputOf<'createApiKey'>) => api.createApiKey(input), 'api-keys');
  if (create.data) return <CreatedApiKey created={create.data} onClose={onClose} />;
  const submit = ({ name, role, expires }: Record<string, string>) =>
    create.mutate({
      name: name!,
      permissions: [...chosen],
      ...(role && { role }),
      ...(expires && { expiresAt: endOf(expires) }),
    });
  return (
    <FormDialog
      title={texts.createTitle}
      action={texts.create}
      isReady={chosen.length > 0}
      run={create}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={texts.name} name="name" hint={texts.nameHint} required maxLength={100} />
      <fieldset>
        <legend className="mb-1 text-n11">{texts.permissions}</legend>
        {permissions.map((one) => (
          <Check
            key={one}
            label={one}
            hint={texts.permission[one]}
            isOn={chosen.includes(one)}
            onChange={(isOn) =>
              choose(isOn ? [...chosen, one] : chosen.filter((other) => other !== one))
            }
          />
        ))}
      </fieldset>
      <Pick
        label={texts.role}
        hint={texts.roleHint}
        name="role"
        options={[
          ['', texts.noRole],
          ...roles.map(
            ({ definition: { slug, name } }) =>
              [String(slug), `${String(name)} (${String(slug)})`] as const,
          ),
        ]}
      />
      <Field
        label={texts.expiresOn}
        hint={texts.expiresHint}
        name="expires"
        type="date"
        min={new Date().toISOString().slice(0, 10)}
      />
    </FormDialog>
  );
}

/** The end of a day such as 2026-11-30, in the time zone of the browser. */
const endOf = (day: string): number => new Date(`${day}T23:59:59.999`).getTime();

export function CreatedApiKey({
  created,
  onClose,
}: {
  created: ResultOf<'createApiKey'>;
  onClose: () => void;
}) {
  const texts = useTexts(keysCatalog);
  const [agent] = useAgents().items;
  return (
    <ShownOnceDialog title={texts.newKey(created.name)} onClose={onClose} wide>
      <ShownOnce label={texts.key} value={created.key} warning={texts.once} />
      <Json label={texts.tryIt} value={tryLine(created, agent?.slug ?? 'AGENT')} />
    </ShownOnceDialog>
  );
}

/** A request that the key may send, and that changes little. */
function tryLine({ key, permissions: given }: ResultOf<'createApiKey'>, agent: string): string {
  const may = (permission: Permission) => given.includes(permission) || given.includes('*');
  const [path, more] = may('data')
    ? ['/v1/entity-types', '']
    : may('chat')
      ? [
          `/v1/agents/${agent}/chat`,
          ` \\\n  -H 'Content-Type: application/json' -d '{"message":"Hello"}'`,
        ]
      : may('sync')
        ? ['/v1/tool-secrets', '']
        : ['/v1/organization', ''];
  return `curl -s ${location.origin}${path} \\\n  -H 'Authorization: Bearer ${key}'${more}`;
}
