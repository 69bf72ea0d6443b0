import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { useWholeList } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { SecretDetails } from './secret-details';
import { SecretStatus } from './secret-status';
import { SetSecret } from './set-secret';
import { toolSecretsCatalog } from './texts';

export function ToolSecrets() {
  const texts = useTexts(toolSecretsCatalog);
  const { api, key } = useWorkspace();
  const list = useWholeList(
    [...key, 'tool-secrets'],
    (signal) => api.listToolSecrets({}, { signal }),
    10_000,
  );
  return (
    <ListWithDialogs
      title={texts.title}
      list={list}
      keyOf={({ name }) => name}
      mainTitle={texts.name}
      main={({ name, tools }) => [
        <code className="font-mono">{name}</code>,
        tools.length === 0 ? texts.noTools : tools.join(', '),
      ]}
      columns={[
        { title: texts.status, widthRem: 8, cell: (secret) => <SecretStatus of={secret} /> },
        {
          title: texts.setAt,
          widthRem: 8,
          isNumber: true,
          cell: ({ setAt }) => setAt !== null && <Ago at={setAt} />,
        },
      ]}
      side={(secret) => [<SecretStatus of={secret} />]}
      empty={
        <Empty title={texts.emptyTitle} command="npx parley tool-secrets set NAME">
          {texts.empty}
        </Empty>
      }
      itemTitle={({ name }) => name}
      details={(secret, close) => <SecretDetails secret={secret} onClose={close} />}
      add={{ text: texts.add, dialog: (close) => <SetSecret onClose={close} /> }}
    />
  );
}
