import type { ResultOf } from '@parley/client/manage';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { OpenItem } from '../../parts/open-item';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { SecretDetails } from './secret-details';
import { SetSecret } from './set-secret';
import { toolSecretsCatalog } from './texts';

export type ToolSecret = ResultOf<'listToolSecrets'>['data'][number];

export function ToolSecrets() {
  const texts = useTexts(toolSecretsCatalog);
  const { api, key, isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const list = usePages(
    [...key, 'tool-secrets'],
    async (_, signal) => ({ ...(await api.listToolSecrets({}, { signal })), cursor: '', hasMore: false }),
    { refetchInterval: 10_000 },
  );
  return (
    <>
      <ListScreen
        title={texts.title}
        list={list}
        keyOf={({ name }) => name}
        linkOf={({ name }) => linkOf(name)}
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
        side={(secret) => <SecretStatus of={secret} />}
        empty={
          <Empty title={texts.emptyTitle} command="npx parley tool-secrets set NAME">
            {texts.empty}
          </Empty>
        }
      >
        {isAdmin && (
          <Button look="primary" className="ml-auto" onClick={() => show('new')}>
            {texts.add}
          </Button>
        )}
      </ListScreen>
      {open === 'new' && isAdmin ? (
        <SetSecret onClose={close} />
      ) : (
        open !== undefined && (
          <OpenItem id={open} list={list} keyOf={({ name }) => name} title={({ name }) => name} onClose={close}>
            {(secret) => <SecretDetails secret={secret} onClose={close} />}
          </OpenItem>
        )
      )}
    </>
  );
}

export function SecretStatus({ of: { setAt } }: { of: ToolSecret }) {
  const { statuses } = useTexts(toolSecretsCatalog);
  const status = setAt === null ? 'missing' : 'active';
  return <Status status={status} text={statuses[status]} />;
}
