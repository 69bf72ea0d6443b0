import { useTexts } from '../../i18n';
import { Radios } from '../../parts/fields';
import { membersCatalog } from './texts';

export type Role = 'admin' | 'member';

export function RolePick({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const texts = useTexts(membersCatalog);
  return (
    <Radios
      legend={texts.role}
      name="role"
      value={role}
      options={(['member', 'admin'] as const).map((value) => ({
        value,
        label: texts.roles[value],
        hint: texts.roleHints[value],
      }))}
      onChange={onChange}
    />
  );
}
