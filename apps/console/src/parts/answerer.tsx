import { useAgents, useRouters } from '../api/queries';
import { useTexts } from '../i18n';
import { type LabelledProps, Pick } from './fields';

export function answererOf(value: string): { agent: string } | { router: string } {
  const slug = value.slice(value.indexOf(':') + 1);
  return value.startsWith('router:') ? { router: slug } : { agent: slug };
}

/** The values and texts of the select below. */
export function useAnswerers() {
  const { units } = useTexts();
  const [agents, routers] = [useAgents(), useRouters()];
  return {
    isPending: agents.isPending || routers.isPending,
    options: [
      ...agents.items.map(({ slug, name }) => [`agent:${slug}`, name] as const),
      ...routers.items.map(
        ({ definition: { slug, name } }) => [`router:${String(slug)}`, units.router(String(name))] as const,
      ),
    ],
  };
}

/** Who answers: an agent, or a router that chooses one. */
export function AnswererPick({
  of,
  ...rest
}: LabelledProps & { name: string; of?: { agent: string | null; router: string | null } }) {
  const { options } = useAnswerers();
  const current = of && (of.router === null ? `agent:${of.agent ?? ''}` : `router:${of.router}`);
  const isKnown = current === undefined || options.some(([value]) => value === current);
  return (
    <Pick
      required
      {...rest}
      defaultValue={current}
      options={isKnown ? options : [[current, of?.router ?? of?.agent ?? ''], ...options]}
    />
  );
}
