import type { Entity } from '@parley/client';
import { useState } from 'react';
import { formatMoney, formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Link } from '../../parts/link';
import { LinkedText } from '../../parts/linked-text';
import { Ago } from '../../parts/time';
import { type DataType, labelOf } from '../data/fields';
import { PaymentState } from '../payments/payment-state';
import { CardSection } from './card-section';
import { contactCatalog } from './contact-texts';
import { usePaymentsOf, useRelatedTo } from './use-contact';
import { useDataTypes } from '../data/use-data-types';

const shownFields = 8;
const link = 'tap inline-flex items-center text-accent underline';

/** The entity of a contact, the entities that refer to it, and its payments. */
export function ContactEntity({ entity }: { entity: Entity }) {
  const texts = useTexts(contactCatalog);
  const { data: types } = useDataTypes();
  const related = useRelatedTo(entity);
  const payments = usePaymentsOf(
    entity,
    related.flatMap(({ entities }) => entities),
  );
  const [isAll, setAll] = useState(false);
  const fields = Object.entries(entity.data).filter(([, value]) => value !== null && value !== '');
  return (
    <>
      <CardSection
        title={types?.find(({ slug }) => slug === entity.type)?.name ?? entity.type}
        action={
          <Link
            to="data/$type"
            params={{ type: entity.type }}
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
      {related.map(({ type, field, value, entities, total }) => (
        <CardSection
          key={`${type.slug} ${field}`}
          title={`${type.name} · ${formatNumber(total)}`}
          action={
            <Link
              to="data/$type"
              params={{ type: type.slug }}
              search={{ filters: [[field, 'eq', value]] }}
              className={link}
            >
              {texts.showAll}
            </Link>
          }
        >
          <ul>
            {entities.map((one) => (
              <RelatedEntity key={one.id} entity={one} type={type} />
            ))}
          </ul>
        </CardSection>
      ))}
      {payments.data !== undefined && payments.data.data.length > 0 && (
        <CardSection
          title={`${texts.payments} · ${formatNumber(payments.data.total ?? payments.data.data.length)}`}
        >
          <ul>
            {payments.data.data.map((one) => (
              <Payment key={one.id} payment={one} />
            ))}
          </ul>
        </CardSection>
      )}
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

const rowLook = 'tap flex items-baseline justify-between gap-2 rounded px-1 py-1 hover:bg-n3';

function RelatedEntity({ entity, type }: { entity: Entity; type: DataType }) {
  return (
    <li>
      <Link
        to="data/$type"
        params={{ type: entity.type }}
        search={{ entity: entity.id }}
        className={rowLook}
      >
        <span className="min-w-0 truncate">{labelOf(entity, type)}</span>
        <Ago at={entity.createdAt} className="shrink-0 text-xs text-n11" />
      </Link>
    </li>
  );
}

function Payment({ payment }: { payment: Entity }) {
  const { amount, currency, status, description } = payment.data;
  return (
    <li>
      <Link to="payments/$paymentId" params={{ paymentId: payment.id }} className={rowLook}>
        <span className="min-w-0 truncate">
          {typeof description === 'string' ? description : payment.id}
        </span>
        <span className="flex shrink-0 gap-2 text-xs text-n11">
          <span className="text-n12 tabular-nums">{formatMoney(amount, currency)}</span>
          <PaymentState status={String(status)} />
        </span>
      </Link>
    </li>
  );
}
