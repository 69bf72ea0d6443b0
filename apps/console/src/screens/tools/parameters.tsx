import type { JsonObject } from '@parley/client';
import { useTexts } from '../../i18n';
import { shownValue } from '../build/definitions';
import { buildCatalog } from '../build/texts';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The type of a field in a JSON Schema, as a word. */
function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.type === 'array') return `${isObject(schema.items) ? typeOf(schema.items) : ''}[]`;
  const forms = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(forms)) return forms.filter(isObject).map(typeOf).join(' | ');
  return shownValue(schema.type ?? 'any');
}

/** The arguments of a tool as a table, from their JSON Schema. */
export function Parameters({ schema }: { schema: JsonObject }) {
  const texts = useTexts(buildCatalog);
  const required = Array.isArray(schema.required) ? schema.required : [];
  // The order of the definition is not stored.
  const fields = Object.entries(isObject(schema.properties) ? schema.properties : {}).toSorted(
    ([one], [other]) => Number(required.includes(other)) - Number(required.includes(one)),
  );
  if (fields.length === 0) return <p className="text-n11">{texts.noFields}</p>;
  return (
    <dl className="divide-y divide-n4 border-y border-n4">
      {fields.map(([name, field]) => (
        <div
          key={name}
          className="grid gap-x-4 py-1.5 sm:grid-cols-[minmax(0,14rem)_minmax(0,1fr)]"
        >
          <dt>
            <code className="font-mono text-xs font-medium">{name}</code>{' '}
            {required.includes(name) && (
              <span className="text-xs text-waiting">{texts.required}</span>
            )}
            <code className="block font-mono text-xs text-n11">
              {isObject(field) ? typeOf(field) : ''}
            </code>
          </dt>
          <dd className="text-n11">
            {isObject(field) && typeof field.description === 'string' && field.description}
          </dd>
        </div>
      ))}
    </dl>
  );
}
