import { useAgents } from '../../api/queries';
import { useDefinitions } from '../../api/queries';
import { formatNumber, useTexts } from '../../i18n';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { Section } from '../../parts/section';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { listsTool } from '../build/definitions';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { Names } from '../build/sections';
import { buildCatalog } from '../build/texts';
import { Parameters } from './parameters';
import { RunTool } from './run-tool';
import { toolsCatalog } from './texts';
import type { ListedTool } from './listed-tool';

/** A tool: what models read of it, its limits, its code, and a way to run it. */
export function Tool({ tool }: { tool: ListedTool }) {
  const texts = useTexts(toolsCatalog);
  return (
    <DetailScreen
      title={tool.name}
      back={links.tool()}
      backTitle={texts.title}
      head={<span className="text-n11">{tool.isBuiltin ? texts.isBuiltIn : texts.isCustom}</span>}
    >
      {!tool.isBuiltin && <PushedAsCode />}
      <div className="grid items-start gap-6 p-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,30rem)]">
        <div className="min-w-0 space-y-6">
          <p className="max-w-3xl text-base whitespace-pre-wrap">{tool.description}</p>
          {tool.custom?.templateOnly && <Notice>{texts.templateOnly}</Notice>}
          <Section title={texts.parameters}>
            <Parameters schema={tool.parameters} />
          </Section>
          <Limits tool={tool} />
          {!tool.isBuiltin && <Code name={tool.name} />}
          <details>
            <summary className="text-n11">{texts.schema}</summary>
            <Json value={tool.parameters} label={texts.schema} />
          </details>
        </div>
        <RunTool tool={tool} />
      </div>
    </DetailScreen>
  );
}

function Limits({ tool: { name, action, sideEffects, custom } }: { tool: ListedTool }) {
  const texts = useTexts(toolsCatalog);
  const build = useTexts(buildCatalog);
  const agents = useAgents().items.filter(({ tools }) => listsTool(tools, name));
  const { allowedHosts, secrets, runAs } = custom ?? {};
  return (
    <Facts
      facts={[
        [
          texts.agents,
          <Names
            names={agents.map(({ slug }) => slug)}
            linkOf={(slug) => links.agent(slug, 'rights')}
          />,
        ],
        [texts.effects, sideEffects ? texts.changes : texts.reads],
        [
          texts.needs,
          action === 'execute' ? texts.needsExecute : texts.needsAction(build.actions[action]!),
        ],
        [
          texts.runAs,
          custom &&
            (runAs === undefined ? (
              texts.ofCaller
            ) : runAs === 'system' ? (
              texts.ofSystem
            ) : (
              <Names names={[runAs]} linkOf={(role) => links.role(role)} />
            )),
        ],
        [texts.hosts, custom && (allowedHosts ? <Names names={allowedHosts} /> : texts.everyHost)],
        [texts.secrets, custom && <Names names={secrets ?? []} />],
        [build.revision, custom && formatNumber(custom.revision)],
        [build.updated, custom && <Ago at={custom.updatedAt} />],
      ]}
    />
  );
}

/** The list of tools has no code: it is read with all definitions of the environment. */
function Code({ name }: { name: string }) {
  const texts = useTexts(toolsCatalog);
  const { data, error, isPending, refetch } = useDefinitions(({ tools = [] }) => tools);
  if (isPending) return <Skeleton rows={3} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  return (
    <Json value={data.find((tool) => tool.name === name)?.handlerCode ?? ''} label={texts.code} />
  );
}
