import type { Entity } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { isMissing } from '../../api/errors';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, CopyText, tabLook } from '../../parts/controls';
import { Json } from '../../parts/json';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { EntityForm } from './entity-form';
import { EntityHistory } from './entity-history';
import { type DataType, labelOf } from './fields';
import { Relations } from './relations';
import { type EntityTab, entityTabs } from './search';
import { dataCatalog } from './texts';

interface EntityPanelProps {
  type: DataType;
  /** `new` for one that does not exist yet. */
  id: string;
  tab: EntityTab;
  /** The field that gets the focus. */
  focusField?: string;
  onTab: (tab: EntityTab) => void;
  onClose: () => void;
  onCreated: (id: string) => void;
}

/** The stored state of an entity, deleted ones too. */
function useEntity(type: string, id: string) {
  const { client, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'entities', type, 'one', id],
    queryFn: async ({ signal }): Promise<Entity> => {
      try {
        return (await client.data.get(type, id, { signal })) as Entity;
      } catch (error) {
        if (!isMissing(error)) throw error;
        const { data } = await client.data.query(
          type,
          { filters: { id }, status: 'deleted' } as never,
          { signal },
        );
        if (data[0] === undefined) throw error;
        return data[0] as Entity;
      }
    },
    enabled: id !== 'new',
    refetchInterval: 10_000,
  });
}

/** An entity beside its grid, and on a narrow screen in its place. */
export function EntityPanel({
  type,
  id,
  tab,
  focusField,
  onTab,
  onClose,
  onCreated,
}: EntityPanelProps) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const isNew = id === 'new';
  const { data: entity, error, isPending, refetch } = useEntity(type.slug, id);
  const title = isNew ? texts.newOf(type.name) : entity ? labelOf(entity, type) : type.name;
  const heading = useRef<HTMLHeadingElement>(null);
  useKeys({ Escape: onClose });
  const opener = useRef(document.activeElement);
  useEffect(
    () => () => {
      // The focus was in the panel, which is no longer there.
      if (document.activeElement === document.body) (opener.current as HTMLElement | null)?.focus();
    },
    [],
  );
  useEffect(() => {
    // The cell that opened it has the focus until then; a field takes it when it is named.
    if (focusField === undefined && !isNew) heading.current?.focus({ preventScroll: true });
  }, [focusField, isNew]);
  return (
    <section
      aria-label={title}
      className="flex h-full w-full min-w-0 flex-col bg-n1 lg:w-[30rem] lg:shrink-0 lg:border-l lg:border-n5"
    >
      <header className="flex min-h-12 shrink-0 items-center gap-2 border-b border-n5 px-4 py-2">
        <Button
          look="quiet"
          icon={ArrowLeft}
          label={texts.backToRows}
          className="lg:hidden"
          onClick={onClose}
        />
        <h2
          ref={heading}
          tabIndex={-1}
          className="min-w-0 flex-1 truncate text-lg font-semibold outline-none"
        >
          {title}
        </h2>
        <Button
          look="quiet"
          icon={X}
          label={states.close}
          className="max-lg:hidden"
          onClick={onClose}
        />
      </header>
      {!isNew && (
        <div className="space-y-2 border-b border-n5 px-4 py-2">
          {entity && <Facts entity={entity} />}
          <div role="tablist" aria-label={texts.views} className="flex gap-1 overflow-x-auto">
            {entityTabs.map((one) => (
              <button
                key={one}
                type="button"
                role="tab"
                aria-selected={one === tab}
                onClick={() => onTab(one)}
                className={tabLook(one === tab)}
              >
                {texts.tabs[one]}
              </button>
            ))}
          </div>
        </div>
      )}
      <div className="min-h-0 flex-1 overflow-auto p-4">
        {!isNew && entity === undefined ? (
          isPending ? (
            <Skeleton />
          ) : (
            <Failure error={error} onRetry={isMissing(error) ? undefined : refetch} />
          )
        ) : isNew || tab === 'fields' ? (
          <EntityForm
            type={type}
            entity={entity}
            focusField={focusField}
            onClose={onClose}
            onCreated={onCreated}
          />
        ) : tab === 'relations' ? (
          <Relations type={type} entity={entity!} />
        ) : tab === 'history' ? (
          <EntityHistory type={type} id={id} />
        ) : (
          <Json label={texts.json} value={entity} />
        )}
      </div>
    </section>
  );
}

function Facts({ entity }: { entity: Entity }) {
  const texts = useTexts(dataCatalog);
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-n11">
      <CopyText text={entity.id} />
      {entity.status !== 'active' && (
        <span className={entity.status === 'deleted' ? 'text-failed' : ''}>
          {entity.status === 'deleted' ? texts.isDeleted : texts.onlyStatus(entity.status)}
        </span>
      )}
      <span>
        {texts.created} <Ago at={entity.createdAt} />
      </span>
      <span>
        {texts.updated} <Ago at={entity.updatedAt} />
      </span>
    </p>
  );
}
