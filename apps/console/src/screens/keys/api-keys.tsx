import type { ResultOf } from '@parley/client/manage';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { OpenItem } from '../../parts/open-item';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { ApiKeyDetails } from './api-key-details';
import { CreateApiKey } from './create-api-key';
import { KeyStatus, KeyTabs } from './key-parts';
import { keysCatalog } from './texts';

export type ApiKey = ResultOf<'listApiKeys'>['data'][number];

export function ApiKeys() {
  const texts = useTexts(keysCatalog);
  const { states } = useTexts();
  const { api, key, isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const list = usePages([...key, 'api-keys'], (cursor, signal) => api.listApiKeys({ cursor, limit: 100 }, { signal }), {
    refetchInterval: 10_000,
  });
  return (
    <>
      <ListScreen
        title={texts.title}
        above={<KeyTabs />}
        list={list}
        keyOf={({ id }) => id}
        linkOf={({ id }) => linkOf(id)}
        mainTitle={texts.name}
        main={({ name, prefix }) => [name, <code className="font-mono">{prefix}…</code>]}
        columns={[
          { title: texts.permissions, widthRem: 12, cell: ({ permissions }) => permissions.join(', ') },
          {
            title: texts.role,
            widthRem: 8,
            cell: ({ role }) => role ?? <span className="text-n10">{states.none}</span>,
          },
          { title: texts.status, widthRem: 11, cell: (item) => <KeyStatus of={item} /> },
          {
            title: texts.lastUsed,
            widthRem: 7,
            isNumber: true,
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? <span className="text-n10">{states.never}</span> : <Ago at={lastUsedAt} />,
          },
          { title: texts.created, widthRem: 7, isNumber: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
        side={(item) => (
          <>
            <KeyStatus of={item} />
            <span className="block text-n10">{item.permissions.join(', ')}</span>
          </>
        )}
        empty={
          <Empty title={texts.emptyTitle} command="npx parley keys create --name NAME --permissions chat">
            {texts.empty}
          </Empty>
        }
      >
        {isAdmin && (
          <Button look="primary" className="ml-auto" onClick={() => show('new')}>
            {texts.create}
          </Button>
        )}
      </ListScreen>
      {open === 'new' && isAdmin ? (
        <CreateApiKey onClose={close} />
      ) : (
        open !== undefined && (
          <OpenItem id={open} list={list} keyOf={({ id }) => id} title={({ name }) => name} onClose={close}>
            {(item) => <ApiKeyDetails item={item} />}
          </OpenItem>
        )
      )}
    </>
  );
}
