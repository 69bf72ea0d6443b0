import { useAgents, useRouters } from '../api/queries';
import { messageOf } from '../api/errors';
import { useTexts } from '../i18n';
import { type LabelledProps, Pick } from './fields';

export function answererOf(value: string): { agent: string } | { router: string } {
  const slug = value.slice(value.indexOf(':') + 1);
  return value.startsWith('router:') ? { router: slug } : { agent: slug };
}

/**
 * The options of the select below, and why there are none. There are none before agents and
 * routers are loaded.
 */
export function useAnswerers() {
  const { units } = useTexts();
  const [agents, routers] = [useAgents(), useRouters()];
  if (agents.isPending || routers.isPending) return { options: [] };
  const options = [
    ...agents.items.map(({ slug, name }) => [`agent:${slug}`, name] as const),
    ...routers.items.map(
      ({ definition: { slug, name } }) =>
        [`router:${String(slug)}`, units.router(String(name))] as const,
    ),
  ];
  const problem = agents.error
    ? messageOf(agents.error)
    : options.length === 0
      ? units.noAgents
      : undefined;
  return { options, problem };
}

/** Who answers: an agent, or a router that chooses one. */
export function AnswererPick({
  of,
  ...rest
}: LabelledProps & { name: string; of?: { agent: string | null; router: string | null } }) {
  const { options, problem } = useAnswerers();
  const current = of && (of.router === null ? `agent:${of.agent ?? ''}` : `router:${of.router}`);
  const isKnown = current === undefined || options.some(([value]) => value === current);
  return (
    <Pick
      // The first option is chosen when there is one, and stays chosen when another
      // becomes the first.
      key={options.length === 0 ? 'empty' : 'loaded'}
      required
      hint={problem}
      {...rest}
      defaultValue={current ?? options[0]?.[0]}
      options={isKnown ? options : [[current, of?.router ?? of?.agent ?? ''], ...options]}
    />
  );
}
