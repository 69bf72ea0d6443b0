import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { CreatePublishableKey } from './create-publishable-key';
import { KeyStatus, KeyTabs } from './key-parts';
import { PublishableKeyDetails } from './publishable-key-details';
import { keysCatalog } from './texts';

export function PublishableKeys() {
  const texts = useTexts(keysCatalog);
  const { api, key } = useWorkspace();
  const list = usePages(
    [...key, 'publishable-keys'],
    (cursor, signal) => api.listPublishableKeys({ cursor, limit: 100 }, { signal }),
    { refetchInterval: 10_000 },
  );
  return (
    <ListWithDialogs
      title={texts.title}
      above={<KeyTabs view="publishable" />}
      list={list}
      keyOf={({ id }) => id}
      mainTitle={texts.name}
      main={({ name, key: value }) => [name, <code className="font-mono">{value}</code>]}
      columns={[
        {
          title: texts.answerer,
          widthRem: 10,
          cell: ({ agentSlug, routerSlug }) => agentSlug ?? routerSlug,
        },
        { title: texts.origins, widthRem: 18, cell: ({ origins }) => origins.join(', ') },
        { title: texts.status, widthRem: 11, cell: (item) => <KeyStatus of={item} /> },
        {
          title: texts.created,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [<KeyStatus of={item} />, item.agentSlug ?? item.routerSlug]}
      empty={<Empty title={texts.emptyPublishableTitle}>{texts.emptyPublishable}</Empty>}
      itemTitle={({ name }) => name}
      details={(item) => <PublishableKeyDetails item={item} />}
      isWide
      add={{
        text: texts.createPublishable,
        dialog: (close) => <CreatePublishableKey onClose={close} />,
      }}
    />
  );
}
