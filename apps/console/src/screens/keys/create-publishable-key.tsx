import type { InputOf } from '@parley/client/manage';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { AnswererPick, answererOf, useAnswerers } from '../../parts/answerer';
import { Field } from '../../parts/controls';
import { Area } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { ShownOnce, ShownOnceDialog } from '../../parts/shown-once';
import { Snippet } from './publishable-key-details';
import { keysCatalog } from './texts';

/** As the server sets them. */
const defaults = { perVisitor: 60, perAddress: 600, perKey: 6_000 };
type Limit = keyof typeof defaults;
const limits = Object.keys(defaults) as Limit[];

export function CreatePublishableKey({ onClose }: { onClose: () => void }) {
  const texts = useTexts(keysCatalog);
  const { api } = useWorkspace();
  const { options } = useAnswerers();
  const create = useChange(
    (input: InputOf<'createPublishableKey'>) => api.createPublishableKey(input),
    'publishable-keys',
  );
  if (create.data)
    return (
      <ShownOnceDialog title={texts.newKey(create.data.name)} onClose={onClose} wide>
        <Snippet of={create.data} />
        <ShownOnce
          label={texts.identitySecret}
          value={create.data.identitySecret}
          warning={texts.identityOnce}
        />
      </ShownOnceDialog>
    );
  const submit = ({ name, answerer, origins, ...given }: Record<string, string>) => {
    const { agent, router } = { agent: undefined, router: undefined, ...answererOf(answerer!) };
    create.mutate({
      name: name!,
      ...(router === undefined ? { agentSlug: agent } : { routerSlug: router }),
      origins: origins!.split(/[\s,]+/).filter((one) => one !== ''),
      limits: Object.fromEntries(limits.map((one) => [one, Number(given[one])])),
    });
  };
  return (
    <FormDialog
      title={texts.createPublishableTitle}
      action={texts.createPublishable}
      isReady={options.length > 0}
      run={create}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={texts.name} name="name" hint={texts.nameHint} required maxLength={100} />
      <AnswererPick label={texts.answerer} name="answerer" />
      <Area
        label={texts.origins}
        hint={texts.originsHint}
        name="origins"
        required
        placeholder={location.origin}
      />
      <fieldset>
        <legend className="mb-1">{texts.limits}</legend>
        <div className="grid items-end gap-3 sm:grid-cols-3">
          {limits.map((one) => (
            <Field
              key={one}
              label={texts[one]}
              name={one}
              type="number"
              min={1}
              max={10_000}
              required
              defaultValue={defaults[one]}
            />
          ))}
        </div>
        <p className="mt-1 text-xs text-n10">{texts.limitsHint}</p>
      </fieldset>
    </FormDialog>
  );
}
