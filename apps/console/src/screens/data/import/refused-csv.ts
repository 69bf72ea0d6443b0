import { formatCsvRow, guardText } from '@parley/rows';
import type { RefusedRow } from './run-import';

/** The lines that were refused, with the reasons, as CSV that spreadsheets read as UTF-8. */
export function refusedCsv(
  refused: readonly RefusedRow[],
  { lineTitle, reasonTitle }: { lineTitle: string; reasonTitle: string },
): string {
  const rows = refused.map(({ line, reason }) => formatCsvRow([String(line), guardText(reason)]));
  return `\uFEFF${[formatCsvRow([lineTitle, reasonTitle]), ...rows, ''].join('\n')}`;
}
