import { iterate } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Json } from '../../parts/json';
import type { Run } from './queries';
import { triggersCatalog } from './texts';

/** A run is planned within seconds of its event, or when the worker runs again. */
const plannedWithinMs = 600_000;
const maxRead = 300;

/** The event that caused a run, with what it changed. */
export function CauseEvent({
  run: { cause, entityId, createdAt },
}: {
  run: Pick<Run, 'cause' | 'entityId' | 'createdAt'>;
}) {
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const id = cause.startsWith('event-') ? cause.slice('event-'.length) : null;
  const { data: event } = useQuery({
    queryKey: [...key, 'event', id],
    queryFn: async ({ signal }) => {
      let read = 0;
      const filter = {
        entityId: entityId ?? undefined,
        since: createdAt - plannedWithinMs,
        limit: 100,
      };
      for await (const one of iterate(api.listEvents, filter, { signal })) {
        if (one.id === id) return one;
        if (++read === maxRead) break;
      }
      return null;
    },
    enabled: id !== null && entityId !== null,
    staleTime: Infinity,
  });
  if (id === null) return null;
  return (
    <section aria-label={triggers.event} className="space-y-2">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="text-n11">{triggers.event}</span>
        <CopyText text={id} />
      </p>
      {event && <Json value={event} label={triggers.eventOf(event.type)} />}
    </section>
  );
}
