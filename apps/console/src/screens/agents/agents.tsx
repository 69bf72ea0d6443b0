import { useAgents } from '../../api/queries';
import { formatNumber, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { modelName } from '../build/definitions';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { buildCatalog } from '../build/texts';
import { agentsCatalog } from './texts';

export function Agents() {
  const texts = useTexts(agentsCatalog);
  const build = useTexts(buildCatalog);
  const { states } = useTexts();
  const list = useAgents();
  return (
    <ListScreen
      title={texts.title}
      above={list.items.length > 0 && <PushedAsCode />}
      list={list}
      keyOf={({ slug }) => slug}
      linkOf={({ slug }) => links.agent(slug)}
      mainTitle={build.name}
      main={({ name, slug, description }) => [
        <>
          <span className="font-medium">{name}</span>{' '}
          <code className="font-mono text-xs text-n11">{slug}</code>
        </>,
        description,
      ]}
      columns={[
        {
          title: build.model,
          widthRem: 14,
          cell: ({ model }) =>
            modelName(model) ?? <span className="text-n11">{build.defaultModel}</span>,
        },
        {
          title: texts.toolCount,
          widthRem: 12,
          cell: ({ tools = [] }) =>
            tools.join(', ') || <span className="text-n10">{states.none}</span>,
        },
        {
          title: build.roles,
          widthRem: 8,
          cell: ({ roles = [] }) =>
            roles.join(', ') || <span className="text-n10">{states.none}</span>,
        },
        {
          title: build.revision,
          widthRem: 5,
          isNumber: true,
          cell: ({ revision }) => formatNumber(revision),
        },
        {
          title: build.updated,
          widthRem: 7,
          isNumber: true,
          cell: ({ updatedAt }) => <Ago at={updatedAt} />,
        },
      ]}
      side={({ updatedAt }) => [<Ago at={updatedAt} className="text-n10" />]}
      empty={<NoAgents />}
    />
  );
}

/** In place of agents, here and in the playground: the two commands that make the first one. */
export function NoAgents() {
  const texts = useTexts(agentsCatalog);
  return (
    <Empty title={texts.emptyTitle} command="npx parley init my-agents">
      <p>{texts.empty}</p>
      <p className="flex flex-wrap items-center justify-center gap-2">
        {texts.thenPush} <CopyText text="npx parley push" />
      </p>
    </Empty>
  );
}
