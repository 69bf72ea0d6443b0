import { Link } from '@tanstack/react-router';
import { Check, CircleDashed, type LucideIcon, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useRoles } from '../../api/queries';
import { useTexts } from '../../i18n';
import { Section } from '../../parts/section';
import { type AgentDefinition, type RoleDefinition, definitionOf } from '../build/definitions';
import { links } from '../build/links';
import { buildCatalog } from '../build/texts';
import { useWords } from '../roles/use-words';
import type { DeployedAgent } from './deployed-agent';
import { agentsCatalog } from './texts';

type RightsOnType = DeployedAgent['rights']['entityTypes'][number];
type RightOnType = RightsOnType['actions'][number];
type RightOnTool = DeployedAgent['rights']['tools'][number];
type Deciding = RightOnType['policies'];
const order = ['list', 'read', 'create', 'update', 'delete'];

/** What the agent may do and see, and which role and policy decide. */
export function Rights({ agent: { rights, definition } }: { agent: DeployedAgent }) {
  const texts = useTexts(agentsCatalog);
  const roles = (definition as unknown as AgentDefinition).roles ?? [];
  return (
    <div className="space-y-6">
      <p className="text-n11">{texts.rightsHint}</p>
      <Section title={texts.entities}>
        {rights.entityTypes.length === 0 ? (
          <p className="text-n11">{texts.noTypes}</p>
        ) : (
          <EntityRights types={rights.entityTypes} tools={rights.tools} roles={roles} />
        )}
      </Section>
      <Section title={texts.tools}>
        {rights.tools.length === 0 ? (
          <p className="text-n11">{texts.noTools}</p>
        ) : (
          <ToolRights tools={rights.tools} />
        )}
        <p className="mt-2 text-xs text-n10">{texts.mcp}</p>
      </Section>
    </div>
  );
}

const head = 'border-b border-n5 px-2 py-1.5 text-left align-bottom text-xs font-normal text-n11';
const cell = 'border-b border-n4 px-2 py-2 text-left align-top';
/** On a phone the rows of a table are blocks, and each value has its name before it. */
const table =
  'w-full max-lg:block [&_tbody]:max-lg:block [&_tr]:max-lg:block [&_thead]:max-lg:hidden';
const narrow = 'max-lg:grid max-lg:grid-cols-[6rem_minmax(0,1fr)] max-lg:border-0 max-lg:py-1';

function EntityRights({
  types,
  tools,
  roles,
}: {
  types: readonly RightsOnType[];
  tools: readonly RightOnTool[];
  roles: readonly string[];
}) {
  const texts = useTexts(agentsCatalog);
  const build = useTexts(buildCatalog);
  const names = order.map((action) => build.actions[action]!);
  return (
    <table className={`${table} lg:table-fixed`}>
      <thead>
        <tr>
          {[texts.entityType, ...names, texts.limits].map((name) => (
            <th
              key={name}
              scope="col"
              className={`${head} ${name === texts.limits ? 'w-1/4' : ''}`}
            >
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {types.map(({ entityType, actions }) => (
          <tr key={entityType} className="max-lg:border-b max-lg:border-n4 max-lg:py-2">
            <th
              scope="row"
              className={`${cell} font-normal max-lg:block max-lg:border-0 max-lg:py-1`}
            >
              <Link {...links.type(entityType)} className="font-mono text-xs text-accent">
                {entityType}
              </Link>
            </th>
            {order.map((name, at) => {
              const right = actions.find(({ action }) => action === name);
              return (
                <td key={name} className={`${cell} ${narrow}`}>
                  <Named name={names[at]!}>{right && <Right right={right} tools={tools} />}</Named>
                </td>
              );
            })}
            <td className={`${cell} ${narrow} text-xs text-n11`}>
              <Named name={texts.limits}>
                {actions.some(
                  ({ action, allowed }) => allowed && (action === 'list' || action === 'read'),
                ) ? (
                  <Limits type={entityType} roles={roles} />
                ) : (
                  texts.seesNone
                )}
              </Named>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A value with the title of its column, which only a phone shows. */
function Named({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <span aria-hidden className="text-xs text-n11 lg:hidden">
        {name}
      </span>
      <div className="min-w-0">{children}</div>
    </>
  );
}

/** An action that the roles allow needs a tool that does it. */
function Right({ right, tools }: { right: RightOnType; tools: readonly RightOnTool[] }) {
  const texts = useTexts(agentsCatalog);
  if (!right.allowed)
    return <Verdict is="denied" reason={right.reason} policies={right.policies} />;
  if (tools.some(({ isBuiltin, action }) => isBuiltin && action === right.action))
    return <Verdict is="allowed" reason={right.reason} policies={right.policies} />;
  const hasCode = tools.some(
    ({ isBuiltin, permission }) => !isBuiltin && permission?.allowed !== false,
  );
  return hasCode ? (
    <Verdict is="inCode" reason={texts.inCodeWhy} />
  ) : (
    <Verdict is="noTool" reason={texts.noToolWhy} />
  );
}

const looks: Record<'allowed' | 'denied' | 'inCode' | 'noTool' | 'byType', [LucideIcon, string]> = {
  allowed: [Check, 'text-done'],
  denied: [X, 'text-failed'],
  inCode: [CircleDashed, 'text-waiting'],
  noTool: [CircleDashed, 'text-n10'],
  byType: [CircleDashed, 'text-n11'],
};

/** Allowed or not, and the policy that decides, which leads to its role. */
function Verdict({
  is,
  reason,
  policies = [],
  isExplained = false,
}: {
  is: keyof typeof looks;
  reason: string;
  policies?: Deciding;
  isExplained?: boolean;
}) {
  const texts = useTexts(agentsCatalog);
  const [Icon, colour] = looks[is];
  return (
    <span title={reason}>
      <span className={`inline-flex items-center gap-1 ${colour}`}>
        <Icon aria-hidden size={14} className="shrink-0" /> {texts[is]}
      </span>
      {!isExplained && is === 'denied' && policies.length === 0 && (
        <span className="block text-xs text-n11">
          {reason.startsWith('no policy of ') ? texts.noPolicy : reason}
        </span>
      )}
      {policies.map(({ role, policy }) => (
        <Link
          key={role + policy}
          {...links.role(role)}
          className="block text-xs text-n11 hover:underline"
        >
          {texts.policy(role, policy)}
        </Link>
      ))}
    </span>
  );
}

/** The scope rules and masks of the agent's roles on a type, in words. */
function Limits({ type, roles }: { type: string; roles: readonly string[] }) {
  const texts = useTexts(agentsCatalog);
  const words = useWords();
  const all = useRoles()
    .items.map((role) => definitionOf<RoleDefinition>(role))
    .filter(({ slug }) => roles.includes(slug));
  const sentences = all.flatMap(({ scopeRules = [], fieldMasks = [] }) => [
    ...words.scopeRules(scopeRules.filter(({ entityType }) => entityType === type)),
    ...fieldMasks.filter(({ entityType }) => entityType === type).map(words.mask),
  ]);
  if (sentences.length === 0) return texts.seesAll;
  return (
    <ul className="space-y-0.5">
      {sentences.map((sentence, at) => (
        <li key={at}>{sentence}</li>
      ))}
    </ul>
  );
}

function ToolRights({ tools }: { tools: readonly RightOnTool[] }) {
  const texts = useTexts(agentsCatalog);
  const build = useTexts(buildCatalog);
  return (
    <table className={table}>
      <thead>
        <tr>
          {[texts.tool, texts.needs, texts.decision, texts.why].map((name) => (
            <th key={name} scope="col" className={head}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {tools.map(({ name, action, permission }) => (
          <tr key={name} className="max-lg:border-b max-lg:border-n4 max-lg:py-2">
            <th
              scope="row"
              className={`${cell} font-normal max-lg:block max-lg:border-0 max-lg:py-1`}
            >
              <Link {...links.tool(name)} className="font-mono text-xs text-accent">
                {name}
              </Link>
            </th>
            <td className={`${cell} ${narrow}`}>
              <Named name={texts.needs}>{build.actions[action]}</Named>
            </td>
            <td className={`${cell} ${narrow}`}>
              <Named name={texts.decision}>
                <Verdict
                  isExplained
                  is={permission === null ? 'byType' : permission.allowed ? 'allowed' : 'denied'}
                  reason={permission?.reason ?? texts.byTypeWhy}
                  policies={permission?.policies}
                />
              </Named>
            </td>
            <td className={`${cell} ${narrow} text-n11`}>
              <Named name={texts.why}>{permission?.reason ?? texts.byTypeWhy}</Named>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
