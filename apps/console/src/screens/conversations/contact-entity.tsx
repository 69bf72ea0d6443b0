import type { Entity } from '@parley/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTypes } from '../../api/queries';
import { usePlace } from '../../frame/workspace';
import { formatMoney, formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { LinkedText } from '../../parts/linked-text';
import { Ago } from '../../parts/time';
import { CardSection } from './card-section';
import { contactCatalog } from './contact-texts';
import { titleOf, useEntitiesWith, useReferencesTo } from './use-contact';

const shownFields = 8;
const link = 'tap inline-flex items-center text-accent underline';

/** What the data knows of a contact: its entity, what refers to it, and its payments. */
export function ContactEntity({ entity }: { entity: Entity }) {
  const texts = useTexts(contactCatalog);
  const place = usePlace();
  const { data: types } = useTypes();
  const references = useReferencesTo(entity);
  const [isAll, setAll] = useState(false);
  const fields = Object.entries(entity.data).filter(([, value]) => value !== null && value !== '');
  const name = types?.data.find(({ slug }) => slug === entity.type)?.name ?? entity.type;
  return (
    <>
      <CardSection
        title={name}
        action={
          <Link
            to="/$organization/$environment/data/$type"
            params={{ ...place, type: entity.type }}
            search={{ entity: entity.id }}
            className={link}
          >
            {texts.openEntity}
          </Link>
        }
      >
        <Facts
          facts={(isAll ? fields : fields.slice(0, shownFields)).map(([field, value]) => [
            field,
            <Value key={field} value={value} />,
          ])}
        />
        {fields.length > shownFields && !isAll && (
          <Button look="quiet" onClick={() => setAll(true)}>
            {texts.moreFields(fields.length - shownFields)}
          </Button>
        )}
      </CardSection>
      {references.map(({ type, typeName, field, value }) => (
        <Related
          key={`${type} ${field}`}
          type={type}
          title={type === 'payment' ? texts.payments : typeName}
          field={field}
          value={value}
        />
      ))}
    </>
  );
}

function Value({ value }: { value: unknown }) {
  if (typeof value === 'number') return formatNumber(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (
    <span dir="auto" className="line-clamp-4">
      <LinkedText text={text} />
    </span>
  );
}

/** The entities of a type that have a value in a field, and where all of them are. */
function Related({ type, title, field, value }: { type: string; title: string; field: string; value: string }) {
  const texts = useTexts(contactCatalog);
  const place = usePlace();
  const { data } = useEntitiesWith(type, field, value);
  if (data === undefined || data.data.length === 0) return null;
  const { total = data.data.length } = data;
  return (
    <CardSection
      title={`${title} · ${formatNumber(total)}`}
      action={
        <Link
          to="/$organization/$environment/data/$type"
          params={{ ...place, type }}
          search={{ filters: [[field, 'eq', value]] }}
          className={link}
        >
          {texts.showAll}
        </Link>
      }
    >
      <ul>
        {data.data.map((entity) => (
          <li key={entity.id}>
            <RelatedLink entity={entity} />
          </li>
        ))}
      </ul>
    </CardSection>
  );
}

function RelatedLink({ entity }: { entity: Entity }) {
  const texts = useTexts(contactCatalog);
  const place = usePlace();
  const { amount, currency, status } = entity.data;
  const look = 'tap flex items-baseline justify-between gap-2 rounded px-1 py-1 hover:bg-n3';
  const content = (
    <>
      <span className="min-w-0 truncate">{titleOf(entity)}</span>
      <span className="flex shrink-0 gap-2 text-xs text-n11">
        {typeof amount === 'number' && <span className="text-n12 tabular-nums">{formatMoney(amount, currency)}</span>}
        {typeof status === 'string' && (
          <span>{(entity.type === 'payment' ? texts.paymentStatuses[status] : undefined) ?? status}</span>
        )}
        <Ago at={entity.createdAt} />
      </span>
    </>
  );
  return entity.type === 'payment' ? (
    <Link
      to="/$organization/$environment/payments/$paymentId"
      params={{ ...place, paymentId: entity.id }}
      search={{}}
      className={look}
    >
      {content}
    </Link>
  ) : (
    <Link
      to="/$organization/$environment/data/$type"
      params={{ ...place, type: entity.type }}
      search={{ entity: entity.id }}
      className={look}
    >
      {content}
    </Link>
  );
}
