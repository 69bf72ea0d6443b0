import type { InputOf } from '@parley/client/manage';
import { useChange } from '../../api/use-change';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { FormDialog } from '../../parts/form-dialog';
import { type ServerKind, servers } from './providers';
import { SettingsFields, settingsOf } from './settings-fields';
import { integrationsCatalog } from './texts';

/** A server with a name of its own: of MCP tools, or of models. */
export function AddServer({ kind, onClose }: { kind: ServerKind; onClose: () => void }) {
  const texts = useTexts(integrationsCatalog);
  const { api } = useWorkspace();
  const { show } = useOpen();
  const { prefix, fields } = servers[kind];
  const title = kind === 'mcp' ? texts.addMcp : texts.addModels;
  const create = useChange(async (input: InputOf<'createIntegration'>) => {
    await api.createIntegration(input);
    show(input.provider);
  }, 'integrations');
  return (
    <FormDialog
      title={title}
      action={title}
      run={create}
      onSubmit={(form) =>
        create.mutate({ provider: prefix + form.server, settings: settingsOf(fields, form) })
      }
      onClose={onClose}
    >
      <Field
        label={texts.serverName}
        hint={texts.serverNameHint}
        name="server"
        required
        maxLength={63}
        pattern="[a-z0-9][a-z0-9_\-]*"
        autoComplete="off"
        spellCheck={false}
      />
      <SettingsFields fields={fields} />
    </FormDialog>
  );
}
