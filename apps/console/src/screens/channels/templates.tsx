import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Section } from '../../parts/section';
import { Failure, Skeleton } from '../../parts/states';
import type { Channel } from './channel-parts';
import { channelsCatalog } from './texts';

interface Shown {
  name: string;
  language: string;
  /** As Meta names it, such as APPROVED and PENDING. */
  status: string;
  text: string;
}

/** What people read of a template, which is as the provider describes it. */
function shownOf({ name, language, status, components }: Record<string, unknown>): Shown {
  const body = (
    Array.isArray(components) ? (components as { type?: unknown; text?: unknown }[]) : []
  ).find(({ type }) => String(type).toUpperCase() === 'BODY');
  return {
    name: String(name),
    language: String(language),
    status: String(status),
    text: String(body?.text ?? ''),
  };
}

export function Templates({ channel: { id } }: { channel: Channel }) {
  const texts = useTexts(channelsCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'channels', 'templates', id],
    queryFn: async ({ signal }) =>
      (await api.listChannelTemplates({ id }, { signal })).data.map(shownOf),
    staleTime: 60_000,
  });
  return (
    <Section title={texts.templates} hint={texts.templatesHint}>
      {isPending ? (
        <Skeleton rows={3} />
      ) : data === undefined ? (
        <Failure error={error} onRetry={refetch} />
      ) : data.length === 0 ? (
        <p className="text-n11">{texts.noTemplates}</p>
      ) : (
        <ul className="divide-y divide-n4 border-y border-n4">
          {data.map(({ name, language, status, text }) => (
            <li key={`${name} ${language}`} className="py-2">
              <p>
                <code className="font-mono text-xs">{name}</code>{' '}
                <span className="text-n10">
                  · {language} · {status}
                </span>
              </p>
              {text && <p className="whitespace-pre-wrap text-n11">{text}</p>}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
