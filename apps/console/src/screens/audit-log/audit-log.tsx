import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { usePeople } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Choice, Toggle } from '../../parts/controls';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { Actor, type Entry } from './entry';
import { EntryDetails } from './entry-details';
import { auditLogCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/audit-log');

/** The beginning of a day such as 2026-11-30, in the time zone of the browser. */
function startOf(day: string | undefined): number | undefined {
  const at = new Date(`${day}T00:00`).getTime();
  return Number.isFinite(at) ? at : undefined;
}

export function AuditLog() {
  const texts = useTexts(auditLogCatalog);
  const { nav } = useTexts();
  const { api, key } = useWorkspace();
  const { open: _, ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const input = {
    action: search.action,
    actorId: search.actor,
    targetId: search.target,
    since: startOf(search.since),
  };
  const list = usePages(
    [...key, 'audit-log', input],
    (cursor, signal) => api.listAuditLog({ ...input, cursor, limit: 100 }, { signal }),
    { refetchInterval: 10_000 },
  );
  const actionOf = ({ action }: Entry) => texts.actions[action] ?? action;
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListWithDialogs
      title={texts.title}
      list={list}
      keyOf={(entry) => entry.id}
      mainTitle={texts.what}
      main={(entry) => [
        actionOf(entry),
        entry.target === null ? entry.action : `${entry.target.type} ${entry.target.id}`,
      ]}
      columns={[
        { title: texts.who, widthRem: 14, cell: (entry) => <Actor of={entry} /> },
        { title: texts.where, widthRem: 9, cell: ({ address }) => address },
        {
          title: texts.environment,
          widthRem: 10,
          cell: ({ environment }) => (environment === null ? texts.everywhere : nav[environment]),
        },
        {
          title: texts.when,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(entry) => [
        <Ago at={entry.createdAt} className="text-n10" />,
        <span className="block max-w-36 truncate">
          {entry.actor.name ?? texts.actors[entry.actor.type]}
        </span>,
      ]}
      onClear={isFiltered ? () => void navigate({ search: {}, replace: true }) : undefined}
      empty={<Empty title={texts.emptyTitle}>{texts.empty}</Empty>}
      itemTitle={actionOf}
      details={(entry) => <EntryDetails entry={entry} />}
      isWide
    >
      <Choice
        label={texts.action}
        value={search.action ?? ''}
        onChange={({ target }) => filter({ action: target.value || undefined })}
        options={[
          ['', texts.anyAction],
          ...withCurrent(Object.entries(texts.actions), search.action),
        ]}
      />
      <ActorChoice value={search.actor} onChange={(actor) => filter({ actor })} />
      <label className="flex shrink-0 items-center gap-1.5 text-n11">
        {texts.since}
        <input
          type="date"
          value={search.since ?? ''}
          onChange={({ target }) => filter({ since: target.value || undefined })}
          className="tap h-8 rounded border border-n7 bg-n1 px-1.5"
        />
      </label>
      {search.target !== undefined && (
        <Toggle
          label={texts.targetFilter(search.target)}
          isOn
          onChange={() => filter({ target: undefined })}
        />
      )}
    </ListWithDialogs>
  );
}

type Options = (readonly [value: string, text: string])[];

/** A value of the address that no option has is shown as it is. */
const withCurrent = (options: Options, value: string | undefined): Options =>
  value === undefined || options.some(([one]) => one === value)
    ? options
    : [...options, [value, value]];

/** Who is in the log: the people of the organization, and the API keys of the environment. */
function ActorChoice({
  value,
  onChange,
}: {
  value?: string;
  onChange: (actor: string | undefined) => void;
}) {
  const texts = useTexts(auditLogCatalog);
  const { api, key } = useWorkspace();
  const people = usePeople();
  const { data: keys } = useQuery({
    queryKey: [...key, 'api-keys', 'names'],
    queryFn: ({ signal }) => api.listApiKeys({ limit: 100 }, { signal }),
    staleTime: 60_000,
  });
  const options: Options = [
    ...people.map(({ id, name }) => [id, name] as const),
    ...(keys?.data ?? []).map(({ id, name }) => [id, `${name} · ${texts.actors.api_key}`] as const),
  ];
  return (
    <Choice
      label={texts.who}
      className="max-w-52"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value || undefined)}
      options={[['', texts.anyActor], ...withCurrent(options, value)]}
    />
  );
}
