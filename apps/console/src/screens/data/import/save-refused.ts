import { saveFile } from '../save-file';
import { refusedCsv } from './refused-csv';
import type { RefusedRow } from './run-import';
import type { ImportTexts } from './texts';

/** Saves the lines that were refused, with the reasons, as CSV. */
export function saveRefused(refused: readonly RefusedRow[], texts: ImportTexts): void {
  saveFile(new Blob([refusedCsv(refused, texts)], { type: 'text/csv' }), texts.refusedFile);
}
