import { useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { type DataType, withNested } from './fields';
import { dataCatalog } from './texts';
import { TextLink } from '../../parts/link';

/** The fields of a type, for reading. Types are changed as code. */
export function SchemaView({ type, onClose }: { type: DataType; onClose: () => void }) {
  const texts = useTexts(dataCatalog);
  const fields = withNested(type.fields);
  return (
    <Dialog title={texts.schemaOf(type.name)} onClose={onClose} wide>
      <p className="mb-3 flex flex-wrap items-center gap-3 text-n11">
        <CopyText text={type.slug} />
        {type.searchFields.length > 0
          ? texts.searchedBy(type.searchFields.join(', '))
          : texts.notSearched}
      </p>
      {fields.length === 0 ? (
        <p>{texts.noFields}</p>
      ) : (
        <div className="overflow-x-auto" tabIndex={0}>
          <table className="w-full text-left">
            <thead className="text-n11">
              <tr>
                {[texts.field, texts.fieldType, texts.rules].map((title) => (
                  <th key={title} className="py-1 pr-4 font-normal">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field.name} className="border-t border-n4 align-top">
                  <td className="py-1.5 pr-4">
                    <code className="font-mono text-xs">{field.name}</code>
                    {field.description !== undefined && (
                      <p className="text-xs text-n11">{field.description}</p>
                    )}
                  </td>
                  <td className="py-1.5 pr-4 whitespace-nowrap">
                    {field.items === undefined ? field.type : texts.arrayOf(field.items)}
                  </td>
                  <td className="py-1.5">
                    <ul className="flex flex-wrap gap-x-3">
                      {field.isRequired && <li>{texts.required}</li>}
                      {field.isSearched && <li>{texts.searched}</li>}
                      {field.options && (
                        <li>{texts.oneOf(field.options.map((one) => String(one)).join(', '))}</li>
                      )}
                      {field.references !== undefined && (
                        <li>
                          {texts.references}{' '}
                          <TextLink to="data/$type" params={{ type: field.references }}>
                            {field.references}
                          </TextLink>
                        </li>
                      )}
                    </ul>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="mt-3 text-xs text-n11">{texts.undeclared}</p>
    </Dialog>
  );
}
