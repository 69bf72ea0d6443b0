import type { Column } from '@parley/rows';
import { useTexts } from '../../../i18n';
import { Choice } from '../../../parts/controls';
import { TableHead } from '../../../parts/table-head';
import type { DataField } from '../fields';
import { importCatalog } from './texts';

const textOf = (column: Column): string =>
  column.is === 'field' ? `field ${column.name}` : column.is;
const columnOf = (text: string): Column =>
  text.startsWith('field ')
    ? { is: 'field', name: text.slice(6) }
    : { is: text as 'id' | 'status' | 'data' | 'ignored' };

/** Which field each column of a file goes to. */
export function ImportColumns({
  header,
  sample,
  fields,
  columns,
  onChange,
}: {
  header: readonly string[];
  sample: readonly (readonly string[])[];
  fields: readonly DataField[];
  columns: readonly Column[];
  onChange: (columns: Column[]) => void;
}) {
  const texts = useTexts(importCatalog);
  return (
    <div className="max-h-72 overflow-auto rounded border border-n5" tabIndex={0}>
      <table className="w-full text-left">
        <TableHead titles={[texts.column, texts.goesTo, texts.firstValues]} />
        <tbody>
          {header.map((name, at) => {
            const known = fields.map(
              (field) => [`field ${field.name}`, `${field.name} (${field.type})`] as const,
            );
            const own = name.replace(/^data\./, '');
            const isNew = own !== '' && !fields.some((field) => field.name === own);
            return (
              <tr key={at} className="border-t border-n4">
                <td className="max-w-40 truncate px-2 py-1">{name || texts.nameless(at + 1)}</td>
                <td className="px-2 py-1">
                  <Choice
                    label={texts.fieldOf(name || String(at + 1))}
                    value={textOf(columns[at]!)}
                    onChange={({ target }) =>
                      onChange(
                        columns.map((column, index) =>
                          index === at ? columnOf(target.value) : column,
                        ),
                      )
                    }
                    options={[
                      ['ignored', texts.ignored],
                      ...known,
                      ...(isNew ? [[`field ${own}`, texts.newField(own)] as const] : []),
                      ['id', texts.id],
                      ['status', texts.status],
                      ['data', texts.data],
                    ]}
                  />
                </td>
                <td className="max-w-60 truncate px-2 py-1 text-n11">
                  {sample
                    .map((cells) => cells[at] ?? '')
                    .filter(Boolean)
                    .join(' · ')
                    .slice(0, 120)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
