import type { DecimalSign, Format } from '@parley/rows';
import { useEffect, useRef, useState } from 'react';
import { formatNumber, useLanguage, useTexts } from '../../../i18n';
import { Choice } from '../../../parts/controls';
import { Dialog } from '../../../parts/dialog';
import { Notice, Problem } from '../../../parts/states';
import { guessDecimal } from '../guess-decimal';
import type { DataType } from '../fields';
import { ImportFile, type Opened } from './import-file';
import { ImportRows } from './import-rows';
import { importCatalog } from './texts';

/** The browser holds the file as one text. */
const maxMegabytes = 200;

/** Chooses a file, then its columns; checks it with a dry run, and imports it. */
export function ImportDialog({ type, onClose }: { type: DataType; onClose: () => void }) {
  const texts = useTexts(importCatalog);
  const language = useLanguage();
  const [chosen, setChosen] = useState<{ file: File; format: Format } | null>(null);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [decimal, setDecimal] = useState<DecimalSign>(language === 'es' ? ',' : '.');
  /** The import continues after the dialog is closed, and closes the file itself. */
  const isKept = useRef(false);
  useEffect(() => {
    if (chosen === null) return;
    const file = new ImportFile(chosen.file.name);
    let isOver = false;
    setOpened(null);
    setProblem(null);
    if (chosen.file.size > maxMegabytes * 1_000_000)
      setProblem(texts.tooLarge(formatNumber(maxMegabytes)));
    else
      file.open(chosen.file, chosen.format).then(
        (found) => {
          if (isOver) return;
          setOpened({ ...found, file });
          setDecimal(guessDecimal(found.sample.flat(), language === 'es' ? ',' : '.'));
        },
        (error) => isOver || setProblem((error as Error).message),
      );
    return () => {
      isOver = true;
      if (!isKept.current) file.close();
    };
    // Only when another file is chosen.
  }, [chosen]);
  const choose = (file: File | undefined) => {
    if (file)
      setChosen({ file, format: /\.(jsonl|ndjson|json)$/i.test(file.name) ? 'jsonl' : 'csv' });
  };
  return (
    <Dialog title={texts.title(type.name)} onClose={onClose} wide>
      <div className="space-y-4">
        <div className="flex flex-wrap items-end gap-2">
          <label
            className="min-w-0 flex-1 rounded border border-dashed border-n8 px-3 py-3"
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              choose(event.dataTransfer.files[0]);
            }}
          >
            <span className="mb-1 block">{texts.choose}</span>
            <input
              type="file"
              accept=".csv,.tsv,.txt,.jsonl,.ndjson,.json,text/csv"
              className="max-w-full"
              onChange={({ target }) => choose(target.files?.[0])}
            />
          </label>
          {chosen && (
            <Choice
              label={texts.format}
              value={chosen.format}
              onChange={({ target }) => setChosen({ ...chosen, format: target.value as Format })}
              options={[
                ['csv', texts.csv],
                ['jsonl', texts.jsonLines],
              ]}
            />
          )}
        </div>
        <Problem error={problem} />
        {chosen && opened === null && problem === null && <p role="status">{texts.reading}</p>}
        {opened?.encoding === 'windows-1252' && <Notice>{texts.notUtf8}</Notice>}
        {opened?.rowCount === 0 && (
          <Notice>{opened.encoding === null ? texts.noText : texts.noRows}</Notice>
        )}
        {opened && opened.rowCount > 0 && (
          <ImportRows
            key={opened.fingerprint}
            type={type}
            opened={opened}
            decimal={decimal}
            onDecimal={setDecimal}
            onStarted={() => {
              isKept.current = true;
              onClose();
            }}
          />
        )}
      </div>
    </Dialog>
  );
}
