import type { InputOf } from '@parley/client/manage';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { meQuery } from '../../api/session';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { fieldsOf } from '../../parts/form-dialog';
import { SaveLine } from '../../parts/save-line';
import type { Organization } from './hours';
import { settingsCatalog } from './texts';

type Change = InputOf<'changeOrganization'>;

/**
 * A form with a part of the settings. It sends what was changed only, so that two people may change
 * different things.
 */
export function SettingsForm({
  changesOf,
  onSaved,
  children,
}: {
  changesOf: (fields: Record<string, string>) => Change;
  onSaved: (organization: Organization) => void;
  children: ReactNode;
}) {
  const texts = useTexts(settingsCatalog);
  const { api } = useWorkspace();
  const cache = useQueryClient();
  const save = useChange(async (change: Change) => {
    if (Object.keys(change).length > 0) onSaved(await api.changeOrganization(change));
    // The name of the organization is part of who is signed in.
    if (change.name !== undefined) await cache.invalidateQueries(meQuery);
  }, 'organization');
  return (
    <form
      onSubmit={(event) => save.mutate(changesOf(fieldsOf(event)))}
      onChange={() => save.isSuccess && save.reset()}
      className="mt-4 space-y-4"
    >
      {children}
      <SaveLine action={texts.save} run={save} />
    </form>
  );
}

/** The fields that differ from what is stored. */
export const differing = <Fields extends object>(
  stored: Fields,
  given: Partial<Fields>,
): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(stored[name as keyof Fields]),
    ),
  ) as Partial<Fields>;
