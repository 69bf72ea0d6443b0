import type { Entity } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useState } from 'react';
import { isMissing } from '../../api/errors';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { type DataType, labelOf } from './fields';
import { dataCatalog } from './texts';
import { TextLink } from '../../parts/link';
import { useDataTypes } from './use-data-types';

/** The entity that an id names: a link to it. */
export function ReferenceLink({ type, id }: { type: string; id: string }) {
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const types = useDataTypes();
  const known = types.data?.find(({ slug }) => slug === type);
  const { data, error } = useQuery({
    queryKey: [...key, 'entities', type, 'one', id],
    queryFn: ({ signal }) => client.data.get(type, id, { signal }) as Promise<Entity>,
    enabled: id !== '' && known !== undefined,
    staleTime: 30_000,
  });
  if (isMissing(error)) return <span className="text-failed">{texts.noSuchEntity}</span>;
  return (
    <TextLink
      to="data/$type"
      params={{ type }}
      search={{ entity: id }}
      className="inline-block max-w-full truncate align-bottom"
    >
      {data && known ? labelOf(data, known) : id}
    </TextLink>
  );
}

/** Chooses an entity of another type, by words or by its id. */
export function ReferenceInput({
  type,
  onPick,
  isReadOnly,
  ...input
}: ComponentProps<'input'> & {
  type: string;
  value: string;
  onPick: (id: string) => void;
  isReadOnly?: boolean;
}) {
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const types = useDataTypes();
  const known = types.data?.find(({ slug }) => slug === type);
  const [isOpen, open] = useState(false);
  const [words, setWords] = useState('');
  const found = useQuery({
    queryKey: [...key, 'entities', type, 'choose', words],
    queryFn: async ({ signal }) => (await findEntities(words)(client, known!, signal)).slice(0, 8),
    enabled: isOpen && known !== undefined,
  });
  const { value } = input;
  const begin = () => {
    setWords('');
    open(true);
  };
  const pick = (id: string) => {
    onPick(id);
    open(false);
  };
  return (
    <div className="space-y-1">
      {value !== '' && !isOpen && <ReferenceLink type={type} id={value} />}
      <div className="flex gap-2">
        <input
          {...input}
          value={isOpen ? words : value}
          readOnly={isReadOnly}
          placeholder={texts.chooseOf(known?.name ?? type)}
          role="combobox"
          aria-expanded={isOpen}
          aria-controls={`${input.id}-found`}
          autoComplete="off"
          onFocus={() => !isReadOnly && begin()}
          onBlur={() => setTimeout(() => open(false), 150)}
          onChange={({ target }) => {
            setWords(target.value);
            open(true);
            // A pasted id is chosen at once.
            if (/^ent_\w+$/.test(target.value.trim())) pick(target.value.trim());
          }}
          onKeyDown={(event) => {
            if (!isOpen || (event.key !== 'Escape' && event.key !== 'Enter')) return;
            event.preventDefault();
            event.stopPropagation();
            const first = found.data?.[0];
            if (event.key === 'Escape') open(false);
            else if (first) pick(first.id);
          }}
          className="tap h-8 w-full rounded border border-n8 bg-n1 px-2 read-only:bg-n2"
        />
      </div>
      <ul id={`${input.id}-found`} className={isOpen ? 'rounded border border-n5 bg-n1' : 'hidden'}>
        {value !== '' && (
          <li>
            <PickButton onPick={() => pick('')}>{texts.noReference}</PickButton>
          </li>
        )}
        {found.data?.map((entity) => (
          <li key={entity.id}>
            <PickButton onPick={() => pick(entity.id)}>
              <span className="min-w-0 truncate">{labelOf(entity, known!)}</span>
              <code className="ml-auto truncate font-mono text-xs text-n10">
                {entity.id.slice(-8)}
              </code>
            </PickButton>
          </li>
        ))}
        {found.data?.length === 0 && <li className="px-2 py-1 text-n11">{texts.nothingFound}</li>}
      </ul>
    </div>
  );
}

function PickButton({ onPick, children }: { onPick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      // Before the input loses the focus.
      onMouseDown={(event) => {
        event.preventDefault();
        onPick();
      }}
      onClick={onPick}
      className="tap flex min-h-8 w-full items-center gap-2 px-2 text-left hover:bg-n3"
    >
      {children}
    </button>
  );
}

/**
 * The newest entities without words, else those that a search finds, or whose first text
 * contains the words.
 */
const findEntities =
  (words: string) =>
  async (
    client: ReturnType<typeof useWorkspace>['client'],
    { slug, searchFields, fields }: DataType,
    signal: AbortSignal,
  ): Promise<Entity[]> => {
    const query = words.trim();
    if (query !== '' && searchFields.length > 0)
      return (await client.data.search(slug, { query, limit: 8 }, { signal })).data as Entity[];
    const field = fields.find(({ kind }) => kind === 'text');
    const filters = query !== '' && field ? { [`data.${field.name}`]: { $contains: query } } : {};
    return (await client.data.query(slug, { filters, limit: 8 } as never, { signal }))
      .data as Entity[];
  };
