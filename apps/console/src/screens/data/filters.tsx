import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useTexts } from '../../i18n';
import { Button, Choice } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Json } from '../../parts/json';
import { type FilterRow, operators, toFilters } from './search';
import { dataCatalog } from './texts';

interface FiltersProps {
  type: string;
  schema: Record<string, string>;
  rows: FilterRow[];
  onChange: (rows: FilterRow[]) => void;
}

/** The filters of a list in words, which can also be read as code. */
export function Filters({ type, schema, rows, onChange }: FiltersProps) {
  const texts = useTexts(dataCatalog);
  const [isCode, showCode] = useState(false);
  const fields = [...Object.keys(schema), 'id', 'createdAt', 'updatedAt'];
  const change = (at: number, row: FilterRow) => onChange(rows.map((old, index) => (index === at ? row : old)));
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-n5 px-4 py-2">
      {rows.map(([field, operator, value], at) => (
        <span key={at} className="inline-flex items-center gap-1 rounded bg-n3 p-1">
          <Choice
            label={texts.field}
            value={field}
            onChange={({ target }) => change(at, [target.value, operator, value])}
            options={[...new Set([...fields, field])].map((one) => [one, one] as const)}
          />
          <Choice
            label={texts.operator}
            value={operator}
            onChange={({ target }) => change(at, [field, target.value, value])}
            options={operators.map((one) => [one, texts.operators[one]!] as const)}
          />
          {operator !== 'exists' && (
            <ValueInput value={value} onChange={(text) => change(at, [field, operator, text])} />
          )}
          <Button
            look="quiet"
            icon={X}
            label={texts.removeFilter}
            onClick={() => onChange(rows.filter((_, index) => index !== at))}
          />
        </span>
      ))}
      <Button look="quiet" icon={Plus} onClick={() => onChange([...rows, [fields[0]!, 'eq', '']])}>
        {texts.filter}
      </Button>
      {rows.length > 0 && (
        <Button look="quiet" onClick={() => showCode(true)}>
          {texts.asCode}
        </Button>
      )}
      {isCode && <Code type={type} filters={toFilters(rows, schema)} onClose={() => showCode(false)} />}
    </div>
  );
}

/** Applies the value when the person leaves the field or presses Enter. */
function ValueInput({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const texts = useTexts(dataCatalog);
  const [text, setText] = useState(value);
  const apply = () => text !== value && onChange(text);
  return (
    <input
      aria-label={texts.value}
      value={text}
      maxLength={1_000}
      onChange={({ target }) => setText(target.value)}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
      className="tap h-8 w-32 rounded border border-n8 bg-n1 px-2"
    />
  );
}

/** A word of a shell: quotes inside are closed, escaped and opened. */
const shell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function Code({ type, filters, onClose }: { type: string; filters: object; onClose: () => void }) {
  const texts = useTexts(dataCatalog);
  const body = JSON.stringify({ filters });
  const curl = [
    `curl -s ${shell(`${location.origin}/v1/data/${type}/query`)} \\`,
    `  -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' \\`,
    `  -d ${shell(body)}`,
  ].join('\n');
  return (
    <Dialog title={texts.asCode} onClose={onClose} wide>
      <div className="space-y-4">
        <Json label={texts.json} value={filters} />
        <Json label="curl" value={curl} />
        <Json
          label="TypeScript"
          value={`await client.data.query(${JSON.stringify(type)}, ${JSON.stringify({ filters }, null, 2)});`}
        />
      </div>
    </Dialog>
  );
}
