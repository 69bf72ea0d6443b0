import { Plus, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTexts } from '../../i18n';
import { Button, Choice } from '../../parts/controls';
import { FilterCode } from './filter-code';
import type { DataField } from './fields';
import {
  type DataSearch,
  type FilterProblem,
  type FilterRow,
  fieldNamed,
  operatorsOf,
  type Operator,
  takesList,
  takesValue,
} from './search';
import { dataCatalog } from './texts';
import { FilterValue } from './filter-value';

interface FiltersProps {
  type: string;
  fields: readonly DataField[];
  rows: readonly FilterRow[];
  problems: ReadonlyMap<number, FilterProblem>;
  search: DataSearch;
  query: object;
  /** Whether the dates of a field are stored as Unix milliseconds. */
  hasMoments: (field: string) => boolean;
  onChange: (rows: FilterRow[]) => void;
}

/**
 * The filters of a list in words, which can also be read as code. A row with a wrong value filters
 * nothing and says why.
 */
export function Filters({
  type,
  fields,
  rows,
  problems,
  search,
  query,
  hasMoments,
  onChange,
}: FiltersProps) {
  const texts = useTexts(dataCatalog);
  const [isCode, showCode] = useState(false);
  /** The row whose field gets the focus, because it was just added. */
  const [added, setAdded] = useState(-1);
  const change = (at: number, row: FilterRow) =>
    onChange(rows.map((old, index) => (index === at ? row : old)));
  const names = fields.map(({ name }) => name);
  const add = () => {
    const field = fields[0]!;
    setAdded(rows.length);
    onChange([...rows, [field.name, operatorsOf(field)[0]!, '']]);
  };
  return (
    <>
      {rows.map((row, at) => {
        const [name, operator, value] = row;
        const field = fieldNamed(name, fields);
        const allowed = operatorsOf(field);
        const problem = problems.get(at);
        const setField = (next: string) => {
          const to = fieldNamed(next, fields);
          const kept = operatorsOf(to).includes(operator) ? operator : operatorsOf(to)[0]!;
          change(at, [next, kept, to.kind === field.kind && !to.options ? value : '']);
        };
        return (
          <span
            key={at}
            className="inline-flex max-w-full flex-wrap items-center gap-1 rounded bg-n3 p-1"
          >
            <FieldChoice
              names={names}
              value={name}
              isFocused={at === added}
              onChange={(next) => {
                setAdded(-1);
                setField(next);
              }}
            />
            <Choice
              label={texts.operator}
              value={operator}
              onChange={({ target }) => {
                const next = target.value as Operator;
                change(at, [
                  name,
                  next,
                  takesList(next) === takesList(operator) ? value : value.split(',')[0]!,
                ]);
              }}
              options={[...new Set([...allowed, operator])].map(
                (one) => [one, texts.operators[one]] as const,
              )}
            />
            {takesValue(operator) && (
              <FilterValue
                key={`${name} ${operator}`}
                field={field}
                isList={takesList(operator)}
                isPart={operator === 'contains'}
                hasMoments={hasMoments(name)}
                value={value}
                problem={problem}
                onChange={(text) => change(at, [name, operator, text])}
              />
            )}
            {problem !== undefined && (
              <span
                role="status"
                className={`px-1 text-xs ${problem === 'missing' ? 'text-n11' : 'text-failed'}`}
              >
                {texts.filterProblems[problem]}
              </span>
            )}
            <Button
              look="quiet"
              icon={X}
              label={texts.removeFilter}
              onClick={() => onChange(rows.filter((_, index) => index !== at))}
            />
          </span>
        );
      })}
      <Button look="quiet" icon={Plus} onClick={add}>
        {texts.filter}
      </Button>
      {(rows.length > 0 || search.sort !== undefined || search.status !== undefined) && (
        <Button look="quiet" onClick={() => showCode(true)}>
          {texts.asCode}
        </Button>
      )}
      {isCode && <FilterCode type={type} query={query} onClose={() => showCode(false)} />}
    </>
  );
}

const other = '\u0000other';

/**
 * The field of a filter: one of the schema, or any other name, because entities may have fields
 * that are not declared.
 */
function FieldChoice({
  names,
  value,
  isFocused,
  onChange,
}: {
  names: readonly string[];
  value: string;
  isFocused: boolean;
  onChange: (name: string) => void;
}) {
  const texts = useTexts(dataCatalog);
  const [isOther, setOther] = useState(false);
  const [text, setText] = useState('');
  const box = (select: HTMLSelectElement | null | undefined) => {
    if (isFocused) select?.focus();
  };
  useEffect(() => setOther(false), [value]);
  const apply = () => (text.trim() === '' ? setOther(false) : onChange(text.trim()));
  if (isOther)
    return (
      <input
        autoFocus
        aria-label={texts.field}
        placeholder={texts.otherFieldHint}
        value={text}
        maxLength={500}
        onChange={({ target }) => setText(target.value)}
        onBlur={apply}
        onKeyDown={({ key }) => key === 'Enter' && apply()}
        className="tap h-8 w-40 rounded border border-n8 bg-n1 px-2"
      />
    );
  return (
    <span ref={(span) => box(span?.querySelector('select'))} className="contents">
      <Choice
        label={texts.field}
        value={value}
        onChange={({ target }) => {
          if (target.value !== other) {
            onChange(target.value);
            return;
          }
          setText('');
          setOther(true);
        }}
        options={[
          ...[...new Set([...names, value])].map((one) => [one, one] as const),
          [other, texts.otherField] as const,
        ]}
      />
    </span>
  );
}
