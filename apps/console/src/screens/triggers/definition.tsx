import { useTexts } from '../../i18n';
import { Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { Section } from '../../parts/section';
import { Failure, Skeleton } from '../../parts/states';
import { type TriggerDefinition, useTriggerDefinition } from './queries';
import { type TriggerTexts, triggersCatalog } from './texts';

/** What a trigger does, as it was pushed. */
export function Definition({ slug }: { slug: string }) {
  const triggers = useTexts(triggersCatalog);
  const { data, error, isPending, refetch } = useTriggerDefinition(slug);
  if (isPending) return <Skeleton />;
  if (data === undefined) return error ? <Failure error={error} onRetry={refetch} /> : null;
  return (
    <div className="max-w-4xl space-y-6 p-4">
      <Facts
        facts={[
          [triggers.whenDue, whenDue(data, triggers)],
          [triggers.retries, triggers.maxAttempts(data.retry?.maxAttempts ?? 1)],
          [triggers.cascades, data.cascade === true ? triggers.yes : triggers.no],
        ]}
      />
      <Section title={triggers.actions}>
        <ol className="space-y-4">
          {data.actions.map(({ tool, args, as }, index) => (
            <li key={index}>
              <p className="mb-1 flex flex-wrap items-baseline gap-x-2">
                <span className="text-n10 tabular-nums">{index + 1}</span>
                <code className="font-mono">{tool}</code>
                {as && <span className="text-n11">{triggers.resultName(as)}</span>}
              </p>
              <Json value={args} label={triggers.arguments} />
            </li>
          ))}
        </ol>
      </Section>
      <Json value={data} label={triggers.whole} />
    </div>
  );
}

function whenDue({ schedule = {} }: TriggerDefinition, triggers: TriggerTexts): string | null {
  const { delay, at, offset, cancelPrevious } = schedule;
  const isMs = (value: unknown): value is number => typeof value === 'number';
  const words = [
    delay !== undefined && triggers.delay(isMs(delay) ? `${delay} ms` : delay),
    at !== undefined && triggers.at(at),
    offset !== undefined && triggers.offset(isMs(offset) ? `${offset} ms` : offset),
    cancelPrevious === true && triggers.replaces,
  ].filter((word) => word !== false);
  return words.length === 0 ? null : words.join(', ');
}
