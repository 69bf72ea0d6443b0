import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../frame/workspace';
import { CopyText } from './controls';
import { TextLink, linkTo } from './link';

/** A link to an entity. Without its type, the type is that of its last event. */
export function EntityLink({ id, type: known }: { id: string; type?: string | null }) {
  const { api, key } = useWorkspace();
  const { data: found } = useQuery({
    queryKey: [...key, 'type-of-entity', id],
    queryFn: async ({ signal }) =>
      (await api.listEvents({ entityId: id, limit: 1 }, { signal })).data[0]?.entityType ?? null,
    enabled: !known,
    staleTime: Infinity,
  });
  const type = known ?? found;
  if (!type) return <CopyText text={id} />;
  const to = linkTo({ to: 'data/$type', params: { type }, search: { entity: id } });
  return (
    <span className="inline-flex max-w-full flex-wrap items-baseline gap-x-2">
      <TextLink {...to}>{type}</TextLink>
      <CopyText text={id} />
    </span>
  );
}
