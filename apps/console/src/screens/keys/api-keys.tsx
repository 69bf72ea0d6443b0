import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { ApiKeyDetails } from './api-key-details';
import { CreateApiKey } from './create-api-key';
import { KeyStatus, KeyTabs } from './key-parts';
import { keysCatalog } from './texts';

export function ApiKeys() {
  const texts = useTexts(keysCatalog);
  const { states } = useTexts();
  const { api, key } = useWorkspace();
  const list = usePages(
    [...key, 'api-keys'],
    (cursor, signal) => api.listApiKeys({ cursor, limit: 100 }, { signal }),
    {
      refetchInterval: 10_000,
    },
  );
  return (
    <ListWithDialogs
      title={texts.title}
      above={<KeyTabs />}
      list={list}
      keyOf={({ id }) => id}
      mainTitle={texts.name}
      main={({ name, prefix }) => [name, <code className="font-mono">{prefix}…</code>]}
      columns={[
        {
          title: texts.permissions,
          widthRem: 12,
          cell: ({ permissions }) => permissions.join(', '),
        },
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
            lastUsedAt === null ? (
              <span className="text-n10">{states.never}</span>
            ) : (
              <Ago at={lastUsedAt} />
            ),
        },
        {
          title: texts.created,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [<KeyStatus of={item} />, item.permissions.join(', ')]}
      empty={
        <Empty
          title={texts.emptyTitle}
          command="npx parley keys create --name NAME --permissions chat"
        >
          {texts.empty}
        </Empty>
      }
      itemTitle={({ name }) => name}
      details={(item) => <ApiKeyDetails item={item} />}
      add={{ text: texts.create, dialog: (close) => <CreateApiKey onClose={close} /> }}
    />
  );
}
