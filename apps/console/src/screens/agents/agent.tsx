import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { MessagesSquare, Terminal, Workflow } from 'lucide-react';
import { useRouters } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { CopyText, linkLook } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { Section } from '../../parts/section';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import {
  type AgentDefinition,
  type RouterDefinition,
  definitionOf,
  modelName,
} from '../build/definitions';
import { links } from '../build/links';
import { PromptText } from '../build/prompt';
import { splitTemplate } from '../build/prompt-parts';
import { PushedAsCode } from '../build/pushed';
import { Names } from '../build/sections';
import { buildCatalog } from '../build/texts';
import type { DeployedAgent } from './deployed-agent';
import { Rights } from './rights';
import { agentsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/agents/$slug');
const tabs = ['overview', 'rights', 'definition'] as const;

/** An agent with its definition and its rights. */
export function useAgent(slug: string | undefined) {
  const { api, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'agent', slug],
    queryFn: ({ signal }) => api.getAgent({ slug: slug! }, { signal }),
    enabled: slug !== undefined,
  });
}

export function Agent() {
  const { slug } = route.useParams();
  const { data, error, isPending, refetch } = useAgent(slug);
  if (isPending) return <Skeleton rows={10} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  return <DeployedAgent agent={data} />;
}

function DeployedAgent({ agent }: { agent: DeployedAgent }) {
  const texts = useTexts(agentsCatalog);
  const { tab = 'overview' } = route.useSearch();
  const definition = definitionOf<AgentDefinition>(agent);
  return (
    <DetailScreen
      title={definition.name}
      back={links.agents()}
      backTitle={texts.title}
      head={<CopyText text={agent.slug} />}
      actions={
        <>
          <Link {...links.executions(agent.slug)} className={linkLook}>
            <Workflow aria-hidden size={16} strokeWidth={1.75} /> {texts.executions}
          </Link>
          <Link {...links.conversations(agent.slug)} className={linkLook}>
            <MessagesSquare aria-hidden size={16} strokeWidth={1.75} /> {texts.conversations}
          </Link>
          <Link {...links.chat({ agent: agent.slug })} className={linkLook}>
            <Terminal aria-hidden size={16} strokeWidth={1.75} /> {texts.chat}
          </Link>
        </>
      }
    >
      <PushedAsCode />
      <ViewTabs
        label={definition.name}
        views={tabs.map((name) => [
          texts.tabs[name],
          links.agent(agent.slug, name === 'overview' ? undefined : name),
          tab === name,
        ])}
      />
      <div className="p-4">
        {tab === 'rights' ? (
          <Rights agent={agent} />
        ) : tab === 'definition' ? (
          <Json value={agent.definition} label={texts.tabs.definition} />
        ) : (
          <Overview agent={agent} definition={definition} />
        )}
      </div>
    </DetailScreen>
  );
}

function Overview({ agent, definition }: { agent: DeployedAgent; definition: AgentDefinition }) {
  const texts = useTexts(agentsCatalog);
  const build = useTexts(buildCatalog);
  const {
    model,
    tools = [],
    roles = [],
    threadContextParams = [],
    firstMessageSuggestions = [],
  } = definition;
  const settings = typeof model === 'object' ? model : undefined;
  const routers = useRouters().items.map((item) => definitionOf<RouterDefinition>(item));
  const choosing = routers.filter(({ agents, fallback }) =>
    [...agents, fallback].includes(agent.slug),
  );
  return (
    <div className="grid items-start gap-6 xl:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
      <div className="min-w-0 space-y-6">
        {definition.description && <p className="text-base">{definition.description}</p>}
        <Section title={texts.prompt}>
          <p className="mb-2 text-n11">{texts.promptHint}</p>
          <PromptText label={texts.prompt} parts={splitTemplate(definition.systemPrompt)} />
        </Section>
      </div>
      <div className="min-w-0 space-y-6">
        <Facts
          facts={[
            [build.model, modelName(model) ?? build.defaultModel],
            [
              texts.temperature,
              settings?.temperature !== undefined && formatNumber(settings.temperature),
            ],
            [
              texts.maxTokens,
              settings?.maxTokens && texts.tokens(formatNumber(settings.maxTokens)),
            ],
            [texts.reasoning, settings?.reasoning],
            [
              texts.fallbacks,
              settings?.fallbacks?.length ? <Names names={settings.fallbacks} /> : null,
            ],
            [texts.language, definition.language],
            [texts.onFailure, onFailureText(definition, texts)],
            [build.revision, formatNumber(agent.revision)],
            [build.updated, <Ago at={agent.updatedAt} />],
            [texts.id, <CopyText text={agent.id} />],
          ]}
        />
        <Section title={texts.tools}>
          {tools.length === 0 ? (
            <p className="text-n11">{texts.noTools}</p>
          ) : (
            <Names
              names={tools}
              linkOf={(tool) => (tool.includes('*') ? null : links.tool(tool))}
            />
          )}
        </Section>
        <Section title={texts.roles}>
          {roles.length === 0 ? (
            <p className="text-n11">{texts.noRoles}</p>
          ) : (
            <Names names={roles} linkOf={(role) => links.role(role)} />
          )}
        </Section>
        {choosing.length > 0 && (
          <Section title={texts.routers}>
            <Names names={choosing.map(({ slug }) => slug)} linkOf={(slug) => links.router(slug)} />
          </Section>
        )}
        {threadContextParams.length > 0 && (
          <Section title={texts.params}>
            <Facts
              facts={threadContextParams.map(({ name, type, required, description }) => [
                name,
                <>
                  <code className="font-mono text-xs">{type}</code>
                  {required && <span className="text-xs text-waiting"> {build.required}</span>}
                  {description && <span className="block text-n11">{description}</span>}
                </>,
              ])}
            />
          </Section>
        )}
        {firstMessageSuggestions.length > 0 && (
          <Section title={texts.suggestions}>
            <ul className="list-disc space-y-1 pl-4">
              {firstMessageSuggestions.map((suggestion) => (
                <li key={suggestion}>{suggestion}</li>
              ))}
            </ul>
          </Section>
        )}
      </div>
    </div>
  );
}

/**
 * What a person on a channel reads when the agent cannot answer; null if the definition says
 * nothing about it.
 */
function onFailureText(
  { onFailure }: AgentDefinition,
  texts: { defaultText: string; handsOver: string },
): string | null {
  if (onFailure === undefined) return null;
  const said = onFailure.reply ?? texts.defaultText;
  return onFailure.handoff ? `${said} · ${texts.handsOver}` : said;
}
