import {
  type Column,
  type DecimalSign,
  columnsOf,
  isExportHeader,
  kindOf,
  ownValue,
} from '@parley/rows';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { randomKey } from '../../../api/random-key';
import { useWorkspace } from '../../../frame/workspace';
import { formatNumber, useTexts } from '../../../i18n';
import { Button } from '../../../parts/controls';
import { Notice, Problem } from '../../../parts/states';
import { Ago } from '../../../parts/time';
import type { DataType } from '../fields';
import { DecimalChoice } from '../decimal-choice';
import { dataCatalog } from '../texts';
import { ImportColumns } from './import-columns';
import type { Opened } from './import-file';
import { ImportPreview } from './import-preview';
import { findRecord, recordKey } from './import-record';
import type { Reading, RowProblem } from './messages';
import { type DryRun, DryRunResult, useDryRun } from './dry-run';
import { startImport } from './start-import';
import { type ImportTexts, importCatalog } from './texts';

/** Rows of the preview. */
const previewRows = 10;

/** The columns and the first rows of a file, its dry run, and the start of its import. */
export function ImportRows({
  type,
  opened,
  decimal,
  onDecimal,
  onStarted,
}: {
  type: DataType;
  opened: Opened;
  decimal: DecimalSign;
  onDecimal: (sign: DecimalSign) => void;
  onStarted: () => void;
}) {
  const texts = useTexts(importCatalog);
  const data = useTexts(dataCatalog);
  const workspace = useWorkspace();
  const cache = useQueryClient();
  const { header, file, rowCount, fingerprint } = opened;
  const [columns, setColumns] = useState<Column[]>(() => columnsOf(header ?? []));
  const isExport = header !== null && isExportHeader(header);
  const reading: Reading = {
    columns,
    schema: type.schema,
    isGuarded: isExport,
    decimal: isExport ? '.' : decimal,
  };
  const explain = (problem: RowProblem): string =>
    problem.expected === 'fewerCells'
      ? texts.fewerCells
      : `${problem.name === undefined ? '' : `${problem.name}: `}${data.expected(problem.expected)}`;
  const preview = useQuery({
    queryKey: ['import', fingerprint, reading],
    queryFn: () => file.read(0, previewRows, reading),
    gcTime: 0,
    staleTime: Infinity,
  });
  const of = recordKey(workspace, type.slug, fingerprint, { columns, decimal: reading.decimal });
  const record = findRecord(of);
  const dryRun = useDryRun(
    { client: workspace.client, type: type.slug, file, rowCount, reading, explain },
    of,
  );
  const doubled = columns.flatMap((column, at) =>
    column.is !== 'ignored' && columns.findIndex((one) => keyOf(one) === keyOf(column)) < at
      ? [header![at]!]
      : [],
  );
  const start = (isContinued: boolean) => {
    const fresh = { importId: randomKey(), next: 0, created: 0, updated: 0, refused: 0 };
    const refresh = () =>
      void cache.invalidateQueries({ queryKey: [...workspace.key, 'entities', type.slug] });
    startImport(
      { client: workspace.client, type: type.slug, file, rowCount, reading, explain },
      isContinued && record ? record : fresh,
      of,
      texts,
      type.name,
      refresh,
    );
    onStarted();
  };
  const hasNumbers = columns.some(
    (column) =>
      column.is === 'field' &&
      /^(number|integer)$/.test(kindOf(ownValue(type.schema, column.name))),
  );
  const isPartial = record !== undefined && record.next > 0 && record.next < rowCount;
  return (
    <>
      <p>
        {texts.rows(formatNumber(rowCount))} {header !== null && isExport && texts.isExport}
      </p>
      {header !== null && !isExport && hasNumbers && (
        <DecimalChoice value={decimal} onChange={onDecimal} />
      )}
      {header !== null && (
        <ImportColumns
          header={header}
          sample={opened.sample}
          fields={type.fields}
          columns={columns}
          onChange={setColumns}
        />
      )}
      {doubled.length > 0 && <Problem error={texts.doubled(doubled.join(', '))} />}
      {preview.data && <ImportPreview rows={preview.data} explain={explain} />}
      <Problem error={preview.error} />
      {record && (
        <Notice>
          {isPartial
            ? texts.partly(formatNumber(record.next), formatNumber(rowCount))
            : texts.already(formatNumber(record.created + record.updated))}{' '}
          <Ago at={record.at} />
        </Notice>
      )}
      <DryRunResult dryRun={dryRun} />
      <div className="sticky -bottom-px -mx-4 -mb-4 flex flex-wrap justify-end gap-2 border-t border-n5 bg-n1 px-4 py-3">
        {dryRun.isRunning ? (
          <Button onClick={dryRun.stop}>{texts.stop}</Button>
        ) : (
          <Button onClick={dryRun.start} disabled={doubled.length > 0}>
            {texts.dryRun}
          </Button>
        )}
        {isPartial && (
          <Button look="primary" onClick={() => start(true)}>
            {texts.goOnAt(formatNumber(record.next + 1))}
          </Button>
        )}
        <Button
          look={isPartial ? 'plain' : 'primary'}
          disabled={doubled.length > 0 || dryRun.isRunning}
          onClick={() => start(false)}
        >
          {record ? texts.importAgain(formatNumber(rowCount)) : importText(dryRun, rowCount, texts)}
        </Button>
      </div>
    </>
  );
}

const keyOf = (column: Column): string =>
  column.is === 'field' ? `field ${column.name}` : column.is;

const importText = ({ state }: DryRun, rowCount: number, texts: ImportTexts) =>
  texts.importRows(formatNumber(state?.isComplete ? state.created + state.updated : rowCount));
