import { formatCsvRow, guardText } from '@parley/rows';
import { saveFile } from '../save-file';
import type { RefusedRow } from './run-import';

/** Saves the lines that were refused, with the reasons, as CSV. */
export function saveRefused(
  refused: readonly RefusedRow[],
  { lineTitle, reasonTitle, refusedFile }: { lineTitle: string; reasonTitle: string; refusedFile: string },
): void {
  const rows = refused.map(({ line, reason }) => formatCsvRow([String(line), guardText(reason)]));
  const text = [formatCsvRow([lineTitle, reasonTitle]), ...rows, ''].join('\n');
  saveFile(new Blob(['\uFEFF', text], { type: 'text/csv' }), refusedFile);
}
