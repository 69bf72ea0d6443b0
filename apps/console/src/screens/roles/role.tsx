import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useAgents, useTools } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { Section } from '../../parts/section';
import { Ago } from '../../parts/time';
import { type RoleDefinition, definitionOf } from '../build/definitions';
import { links } from '../build/links';
import { PushedAsCode } from '../build/pushed';
import { Names, Sentences } from '../build/sections';
import { buildCatalog } from '../build/texts';
import type { ListedRole } from './listed-role';
import { rolesCatalog } from './texts';
import { useWords } from './use-words';

/** A role in words, and who has it. */
export function Role({ role }: { role: ListedRole }) {
  const texts = useTexts(rolesCatalog);
  const build = useTexts(buildCatalog);
  const words = useWords();
  const definition = definitionOf<RoleDefinition>(role);
  const { policies, scopeRules = [], fieldMasks = [] } = definition;
  return (
    <DetailScreen
      title={definition.name}
      back={links.role()}
      backTitle={texts.title}
      head={<CopyText text={definition.slug} />}
    >
      <PushedAsCode />
      <div className="max-w-4xl space-y-6 p-4">
        {definition.description && <p className="text-base">{definition.description}</p>}
        <Section title={texts.policies}>
          <p className="mb-2 text-n11">
            {policies.length === 0 ? texts.noPolicies : texts.policiesHint}
          </p>
          {policies.length > 0 && (
            <Sentences
              isNumbered
              sentences={policies.map((policy) => (
                <span className={policy.effect === 'deny' ? 'text-failed' : ''}>
                  {words.policy(policy)}
                </span>
              ))}
            />
          )}
        </Section>
        <ByType title={texts.scopeRules} rules={scopeRules} hint={texts.scopeHint}>
          {(rules) => words.scopeRules(rules)}
        </ByType>
        <ByType title={texts.fieldMasks} rules={fieldMasks} hint={texts.maskHint}>
          {(masks) => masks.map(words.mask)}
        </ByType>
        <Holders slug={definition.slug} />
        <Facts
          facts={[
            [build.revision, formatNumber(role.revision)],
            [build.updated, <Ago at={role.updatedAt} />],
          ]}
        />
        <Json value={definition} label={build.definition} />
      </div>
    </DetailScreen>
  );
}

/** Rules of a role, one list for each entity type. */
function ByType<Rule extends { entityType: string }>({
  title,
  rules,
  hint,
  children,
}: {
  title: string;
  rules: readonly Rule[];
  hint: (type: string) => string;
  children: (rules: Rule[]) => ReactNode[];
}) {
  if (rules.length === 0) return null;
  return (
    <Section title={title}>
      {[...Map.groupBy(rules, ({ entityType }) => entityType)].map(([type, ofType]) => (
        <div key={type} className="mb-3">
          <p className="mb-1 text-n11">{hint(type)}</p>
          <Sentences sentences={children(ofType)} />
        </div>
      ))}
    </Section>
  );
}

function Holders({ slug }: { slug: string }) {
  const texts = useTexts(rolesCatalog);
  const { api, key, isAdmin } = useWorkspace();
  const agents = useAgents().items.filter(({ roles }) => roles?.includes(slug));
  const tools = useTools().items.filter(({ custom }) => custom?.runAs === slug);
  const { data: keys } = useQuery({
    queryKey: [...key, 'api-keys', 'of-role'],
    queryFn: ({ signal }) => api.listApiKeys({ limit: 100 }, { signal }),
    enabled: isAdmin,
  });
  const ofRole = keys?.data.filter(({ role, revokedAt }) => role === slug && revokedAt === null);
  return (
    <Section title={texts.holders}>
      <Facts
        facts={[
          [
            texts.agents,
            <Names
              names={agents.map((agent) => agent.slug)}
              linkOf={(name) => links.agent(name, 'rights')}
            />,
          ],
          [
            texts.runAs,
            <Names names={tools.map(({ name }) => name)} linkOf={(name) => links.tool(name)} />,
          ],
          [texts.keys, ofRole && <Names names={ofRole.map(({ name }) => name)} />],
        ]}
      />
    </Section>
  );
}
