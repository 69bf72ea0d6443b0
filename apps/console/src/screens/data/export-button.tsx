import { type Format, createWriter } from '@parley/rows';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Check, Radios } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { startWork } from '../../work/work';
import { type Query, pagesOf } from './bulk';
import type { DataType } from './fields';
import { saveFile } from './save-file';
import { dataCatalog } from './texts';

/**
 * Exports all that the filter matches, page by page, in the format that the import and
 * `parley data import` read.
 */
export function ExportButton({
  type,
  query,
  total,
}: {
  type: DataType;
  query: Query;
  total: number | undefined;
}) {
  const texts = useTexts(dataCatalog);
  const { client } = useWorkspace();
  const [isOpen, open] = useState(false);
  const [format, setFormat] = useState<Format>('csv');
  const [keepFormulas, setKeepFormulas] = useState(false);
  const start = () => {
    const writer = createWriter(format, type.schema, keepFormulas);
    const name = `${type.slug}-${new Date().toISOString().slice(0, 10)}.${format}`;
    startWork(
      texts.exporting(type.name),
      async (progress) => {
        // Each part is held by the browser, which may keep it on the disk.
        // The mark lets Excel read the file as UTF-8.
        const parts: Blob[] = [new Blob([format === 'csv' ? '\uFEFF' : '', writer.head])];
        let done = 0;
        for await (const { data } of pagesOf(client, type.slug, query, progress)) {
          parts.push(new Blob(data.map((entity) => writer.line(entity as never))));
          progress.advance((done += data.length), Math.max(total ?? 0, done));
        }
        const file = new Blob(parts, {
          type: format === 'csv' ? 'text/csv' : 'application/x-ndjson',
        });
        const save = () => saveFile(file, name);
        save();
        return {
          message: texts.exported(formatNumber(done), name),
          actions: [{ text: texts.saveAgain, run: save }],
        };
      },
      { total },
    );
    open(false);
  };
  return (
    <>
      <Button look="quiet" icon={Download} onClick={() => open(true)}>
        {texts.export}
      </Button>
      {isOpen && (
        <FormDialog
          title={texts.exportOf(type.name)}
          action={texts.export}
          onSubmit={start}
          onClose={() => open(false)}
        >
          <p>{total === undefined ? texts.exportAll : texts.exportCount(formatNumber(total))}</p>
          <Radios
            legend={texts.format}
            name="format"
            value={format}
            options={(['csv', 'jsonl'] as const).map((value) => ({
              value,
              label: texts.formats[value],
            }))}
            onChange={setFormat}
          />
          {format === 'csv' && (
            <Check
              label={texts.keepFormulas}
              hint={texts.keepFormulasHint}
              isOn={keepFormulas}
              onChange={setKeepFormulas}
            />
          )}
        </FormDialog>
      )}
    </>
  );
}
