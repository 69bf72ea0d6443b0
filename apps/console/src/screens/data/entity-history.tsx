import type { Json, JsonObject } from '@parley/client';
import type { ResultOf } from '@parley/client/manage';
import { ownValue } from '@parley/rows';
import { usePeople } from '../../api/queries';
import { useTexts } from '../../i18n';
import { useWorkspace } from '../../frame/workspace';
import { Button } from '../../parts/controls';
import { usePages } from '../../parts/pages';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { type DataType } from './fields';
import { fieldNamed } from './search';
import { dataCatalog } from './texts';
import { isSame, showValue } from './values';

type Event = ResultOf<'listEvents'>['data'][number];

/** The recorded changes of an entity, newest first, each with the fields that it changed. */
export function EntityHistory({ type, id }: { type: DataType; id: string }) {
  const texts = useTexts(dataCatalog);
  const { api, key } = useWorkspace();
  const list = usePages(
    [...key, 'entities', type.slug, 'history', id],
    (cursor, signal) =>
      api.listEvents({ entityType: type.slug, entityId: id, limit: 20, cursor }, { signal }),
    { refetchInterval: 10_000 },
  );
  const people = new Map(usePeople().map(({ id: person, name }) => [person, name]));
  if (list.isPending) return <Skeleton />;
  if (list.isError && list.items.length === 0)
    return <Failure error={list.error} onRetry={list.refetch} />;
  if (list.items.length === 0) return <p className="text-n11">{texts.noHistory}</p>;
  return (
    <>
      <ol className="space-y-4">
        {list.items.map((event) => (
          <li key={event.id}>
            <p className="flex flex-wrap gap-x-2">
              <span className="font-medium">{texts.events[event.type] ?? event.type}</span>
              <span className="text-n11">{actorOf(event, texts.actors, people)}</span>
              <Ago at={event.createdAt} className="ml-auto text-n11" />
            </p>
            <Changes event={event} type={type} />
          </li>
        ))}
      </ol>
      {list.hasNextPage && (
        <Button
          className="mt-4"
          isBusy={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {texts.olderChanges}
        </Button>
      )}
    </>
  );
}

/** Who caused an event: the kind, and what names it best. */
function actorOf(
  { actor }: Event,
  kinds: Record<string, string>,
  people: ReadonlyMap<string, string>,
): string {
  const { type, id, slug, name, trigger, provider, callerId, by } = actor as Record<
    string,
    unknown
  >;
  const person = typeof id === 'string' ? (people.get(id) ?? id) : undefined;
  const known = [person, slug, name, trigger, provider, callerId].find(
    (one) => typeof one === 'string',
  );
  const author = isObject(by as Json) ? String((by as JsonObject).id) : undefined;
  const asked = author && `(${people.get(author) ?? author})`;
  return [ownValue(kinds, String(type)) ?? String(type), known, asked].filter(Boolean).join(' ');
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null;
const maxChars = 300;

function Changes({ event: { payload, type: kind }, type }: { event: Event; type: DataType }) {
  const texts = useTexts(dataCatalog);
  const after = isObject(payload.data) ? payload.data : {};
  const before = isObject(payload.previousData) ? payload.previousData : {};
  const declared = type.fields.map(({ name }) => name);
  const all = new Set([...declared, ...Object.keys(before), ...Object.keys(after)]);
  const names = [...all].filter((name) => !isSame(ownValue(before, name), ownValue(after, name)));
  const { status, previousStatus } = payload;
  const isOtherStatus =
    typeof previousStatus === 'string' && typeof status === 'string' && previousStatus !== status;
  // A deletion keeps the fields.
  if (kind === 'entity.deleted' || (names.length === 0 && !isOtherStatus)) return null;
  const text = (value: Json | undefined, name: string) =>
    showValue(value, fieldNamed(name, type.fields)).slice(0, maxChars) || texts.emptyValue;
  return (
    <ul className="mt-1 space-y-0.5 border-l-2 border-n5 pl-3">
      {isOtherStatus && (
        <li>
          <span className="text-n11">{texts.status}</span>{' '}
          <del className="text-n10">{previousStatus}</del> → {status}
        </li>
      )}
      {names.map((name) => (
        <li key={name}>
          <span className="text-n11">{name}</span>{' '}
          {Object.hasOwn(before, name) && (
            <>
              <del className="text-n10">{text(ownValue(before, name), name)}</del> →{' '}
            </>
          )}
          <span>{text(ownValue(after, name), name)}</span>
        </li>
      ))}
    </ul>
  );
}
