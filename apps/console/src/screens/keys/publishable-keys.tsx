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
import { CreatePublishableKey } from './create-publishable-key';
import { KeyStatus, KeyTabs } from './key-parts';
import { PublishableKeyDetails } from './publishable-key-details';
import { keysCatalog } from './texts';

export type PublishableKey = ResultOf<'listPublishableKeys'>['data'][number];

export function PublishableKeys() {
  const texts = useTexts(keysCatalog);
  const { api, key, isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const list = usePages(
    [...key, 'publishable-keys'],
    (cursor, signal) => api.listPublishableKeys({ cursor, limit: 100 }, { signal }),
    { refetchInterval: 10_000 },
  );
  return (
    <>
      <ListScreen
        title={texts.title}
        above={<KeyTabs view="publishable" />}
        list={list}
        keyOf={({ id }) => id}
        linkOf={({ id }) => linkOf(id)}
        mainTitle={texts.name}
        main={({ name, key: value }) => [name, <code className="font-mono">{value}</code>]}
        columns={[
          { title: texts.answerer, widthRem: 10, cell: ({ agentSlug, routerSlug }) => agentSlug ?? routerSlug },
          { title: texts.origins, widthRem: 18, cell: ({ origins }) => origins.join(', ') },
          { title: texts.status, widthRem: 11, cell: (item) => <KeyStatus of={item} /> },
          { title: texts.created, widthRem: 7, isNumber: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
        ]}
        side={(item) => (
          <>
            <KeyStatus of={item} />
            <span className="block text-n10">{item.agentSlug ?? item.routerSlug}</span>
          </>
        )}
        empty={<Empty title={texts.emptyPublishableTitle}>{texts.emptyPublishable}</Empty>}
      >
        {isAdmin && (
          <Button look="primary" className="ml-auto" onClick={() => show('new')}>
            {texts.createPublishable}
          </Button>
        )}
      </ListScreen>
      {open === 'new' && isAdmin ? (
        <CreatePublishableKey onClose={close} />
      ) : (
        open !== undefined && (
          <OpenItem id={open} list={list} keyOf={({ id }) => id} title={({ name }) => name} onClose={close} wide>
            {(item) => <PublishableKeyDetails item={item} />}
          </OpenItem>
        )
      )}
    </>
  );
}
