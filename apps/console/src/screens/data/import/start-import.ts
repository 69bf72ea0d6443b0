import { formatNumber } from '../../../formats';
import { startWork } from '../../../work/work';
import { saveRecord } from './import-record';
import { type ImportState, type RefusedRow, runImport } from './run-import';
import { saveRefused } from './save-refused';
import type { ImportTexts } from './texts';

type Given = Omit<Parameters<typeof runImport>[0], 'isDryRun' | 'onStep'>;

/**
 * Imports in the background. An import that was stopped or failed can continue where it was, also
 * after the page was loaded again.
 */
export function startImport(
  given: Given,
  from: ImportState,
  of: string,
  texts: ImportTexts,
  typeName: string,
  onEnd: () => void,
  refused: RefusedRow[] = [],
): void {
  let state = from;
  const summary = () =>
    texts.done(
      formatNumber(state.created),
      formatNumber(state.updated),
      formatNumber(state.refused),
    );
  const saveAction = () =>
    refused.length === 0
      ? []
      : [{ text: texts.saveRefused, run: () => saveRefused(refused, texts) }];
  startWork(
    texts.importing(given.file.name, typeName),
    async (progress) => {
      const onStep = (next: ImportState, more: readonly RefusedRow[]) => {
        state = next;
        saveRecord(of, state);
        refused.push(...more);
        for (const { line, reason } of more)
          progress.refuse({ item: texts.line(String(line)), reason });
      };
      progress.advance(state.next, given.rowCount);
      try {
        state = await runImport({ ...given, isDryRun: false, onStep }, state, progress);
      } finally {
        onEnd();
      }
      given.file.close();
      return { message: summary(), actions: saveAction() };
    },
    {
      total: given.rowCount,
      onStopped: () => ({
        message: `${texts.stoppedAt(formatNumber(state.next), formatNumber(given.rowCount))} ${summary()}`,
        actions: [
          {
            text: texts.goOn,
            isFollowed: true as const,
            run: () => startImport(given, state, of, texts, typeName, onEnd, refused),
          },
          ...saveAction(),
        ],
      }),
    },
  );
}
