import { useTexts } from '../../i18n';
import { Check } from '../../parts/fields';
import { membersCatalog } from './texts';

export type Role = 'admin' | 'member';

export function RolePick({ role, onChange }: { role: Role; onChange: (role: Role) => void }) {
  const texts = useTexts(membersCatalog);
  return (
    <fieldset>
      <legend className="mb-1 text-n11">{texts.role}</legend>
      {(['member', 'admin'] as const).map((one) => (
        <Check
          key={one}
          type="radio"
          name="role"
          value={one}
          label={texts.roles[one]}
          hint={texts.roleHints[one]}
          isOn={role === one}
          onChange={() => onChange(one)}
        />
      ))}
    </fieldset>
  );
}
