import type { SelectHTMLAttributes } from 'react';
import { useAgents, useRouters } from '../api/queries';
import { useTexts } from '../i18n';
import { type LabelledProps, Pick } from './fields';

/** The value of the select below. */
export const answererValue = ({ agent, router }: { agent: string | null; router: string | null }): string =>
  router === null ? `agent:${agent ?? ''}` : `router:${router}`;

export function answererOf(value: string): { agent: string } | { router: string } {
  const slug = value.slice(value.indexOf(':') + 1);
  return value.startsWith('router:') ? { router: slug } : { agent: slug };
}

/** Who answers: an agent, or a router that chooses one. */
export function AnswererPick({
  value,
  ...rest
}: LabelledProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'value'> & { value?: string }) {
  const { units } = useTexts();
  const { data: agents } = useAgents();
  const { data: routers } = useRouters();
  const options = [
    ...(agents?.data ?? []).map(({ slug, name }) => [`agent:${slug}`, name] as const),
    ...(routers?.data ?? []).map(
      ({ definition: { slug, name } }) => [`router:${String(slug)}`, units.router(String(name))] as const,
    ),
  ];
  const known = value === undefined || options.some(([one]) => one === value);
  // Only with its options can a select have a default.
  return (
    <Pick
      key={`${agents?.data.length} ${routers?.data.length}`}
      required
      {...rest}
      defaultValue={value}
      options={known ? options : [[value, value.slice(value.indexOf(':') + 1)], ...options]}
    />
  );
}
