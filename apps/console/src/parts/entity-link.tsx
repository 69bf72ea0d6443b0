import { useQuery } from '@tanstack/react-query';
import { Link, linkOptions } from '@tanstack/react-router';
import { usePlace, useWorkspace } from '../frame/workspace';
import { CopyText } from './controls';

/** A link to an entity. Without its type, the type is that of its last event. */
export function EntityLink({ id, type: known }: { id: string; type?: string | null }) {
  const { api, key } = useWorkspace();
  const params = usePlace();
  const { data: found } = useQuery({
    queryKey: [...key, 'type-of-entity', id],
    queryFn: async ({ signal }) =>
      (await api.listEvents({ entityId: id, limit: 1 }, { signal })).data[0]?.entityType ?? null,
    enabled: !known,
    staleTime: Infinity,
  });
  const type = known ?? found;
  if (!type) return <CopyText text={id} />;
  const to = linkOptions({
    to: '/$organization/$environment/data/$type',
    params: { ...params, type },
    search: { entity: id },
  });
  return (
    <span className="inline-flex max-w-full flex-wrap items-baseline gap-x-2">
      <Link {...to} className="text-accent underline">
        {type}
      </Link>
      <CopyText text={id} />
    </span>
  );
}
