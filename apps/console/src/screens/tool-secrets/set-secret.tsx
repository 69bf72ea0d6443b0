import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { Area } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { toolSecretsCatalog } from './texts';

/** Sets the value of a secret, which cannot be read again. Without a name, of a new one. */
export function SetSecret({ name, onClose }: { name?: string; onClose: () => void }) {
  const texts = useTexts(toolSecretsCatalog);
  const { api } = useWorkspace();
  const set = useChange(async (form: Record<string, string>) => {
    await api.setToolSecret({ name: name ?? form.name!, value: form.value! });
    onClose();
  }, 'tool-secrets');
  return (
    <FormDialog
      title={name ?? texts.addTitle}
      action={name === undefined ? texts.add : texts.set}
      run={set}
      onSubmit={(form) => set.mutate(form)}
      onClose={onClose}
    >
      {name === undefined && (
        <Field
          label={texts.name}
          hint={texts.nameHint}
          name="name"
          required
          maxLength={64}
          pattern="[A-Z][A-Z0-9_]*"
          autoComplete="off"
          spellCheck={false}
        />
      )}
      <Area
        label={texts.value}
        hint={name === undefined ? texts.valueHint : `${texts.valueHint} ${texts.replaceHint}`}
        name="value"
        required
        minLength={4}
        rows={2}
        autoComplete="off"
        spellCheck={false}
      />
    </FormDialog>
  );
}
