import { getRouteApi } from '@tanstack/react-router';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { AddServer } from './add-server';
import { IntegrationScreen } from './integration';
import { IntegrationStatus, useIntegrations } from './integration-parts';
import { type ServerKind, providerOf } from './providers';
import { integrationsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/integrations');

/** No provider has such a name. */
const newServer = (kind: ServerKind) => `+${kind}`;

export function Integrations() {
  const { open } = route.useSearch();
  return open === undefined || open.startsWith('+') ? (
    <List />
  ) : (
    <IntegrationScreen provider={open} />
  );
}

function List() {
  const texts = useTexts(integrationsCatalog);
  const { isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const list = useIntegrations();
  return (
    <>
      <ListScreen
        title={texts.title}
        list={list}
        keyOf={({ provider }) => provider}
        linkOf={({ provider }) => linkOf(provider)}
        mainTitle={texts.provider}
        main={({ provider }) => [
          providerOf(provider).name,
          <code className="font-mono">{provider}</code>,
        ]}
        columns={[
          { title: texts.kind, widthRem: 12, cell: ({ kind }) => texts.kinds[kind] },
          { title: texts.status, widthRem: 12, cell: (item) => <IntegrationStatus of={item} /> },
          {
            title: texts.changed,
            widthRem: 8,
            isNumber: true,
            cell: ({ updatedAt }) => updatedAt !== null && <Ago at={updatedAt} />,
          },
        ]}
        side={(item) => [<IntegrationStatus of={item} />, texts.kinds[item.kind]]}
        empty={<Empty title={texts.emptyTitle}>{texts.empty}</Empty>}
      >
        {isAdmin && (
          <span className="ml-auto flex gap-2">
            <Button onClick={() => show(newServer('models'))}>{texts.addModels}</Button>
            <Button onClick={() => show(newServer('mcp'))}>{texts.addMcp}</Button>
          </span>
        )}
      </ListScreen>
      {isAdmin &&
        (['mcp', 'models'] as const).map(
          (kind) =>
            open === newServer(kind) && <AddServer key={kind} kind={kind} onClose={close} />,
        )}
    </>
  );
}
