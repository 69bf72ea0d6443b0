import { useEffect, useRef, useState } from 'react';
import { formatNumber, useTexts } from '../../../i18n';
import { Button } from '../../../parts/controls';
import { Problem } from '../../../parts/states';
import type { Progress } from '../../../work/work';
import { saveRefused } from './save-refused';
import { type ImportState, type RefusedRow, runImport } from './run-import';
import { importCatalog } from './texts';

type Given = Omit<Parameters<typeof runImport>[0], 'isDryRun' | 'onStep'>;

export interface DryRun {
  state: (ImportState & { isComplete: boolean; rowCount: number }) | null;
  refused: readonly RefusedRow[];
  isRunning: boolean;
  isWaiting: boolean;
  error: unknown;
  start: () => void;
  stop: () => void;
}

/**
 * Asks the server what an import would do. `of`: what it was asked about; another choice of
 * columns ends it.
 */
export function useDryRun(given: Given, of: string): DryRun {
  const [held, setHeld] = useState<
    { of: string } & Pick<DryRun, 'state' | 'refused' | 'isRunning' | 'error'>
  >();
  const [isWaiting, wait] = useState(false);
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), [of]);
  const start = () => {
    controller.current?.abort();
    const { signal } = (controller.current = new AbortController());
    const refused: RefusedRow[] = [];
    const empty = { importId: '', next: 0, created: 0, updated: 0, refused: 0 };
    const show = (state: ImportState, isRunning: boolean, error: unknown = null) => {
      const isComplete = state.next === given.rowCount;
      if (!signal.aborted || error === null)
        setHeld({
          of,
          state: { ...state, isComplete, rowCount: given.rowCount },
          refused: [...refused],
          isRunning,
          error,
        });
    };
    let last: ImportState = empty;
    show(empty, true);
    const onStep = (state: ImportState, more: readonly RefusedRow[]) => {
      last = state;
      refused.push(...more);
      show(state, true);
    };
    const progress: Progress = {
      signal,
      advance: () => {},
      wait,
      refuse: () => {},
      refused: () => refused.length,
    };
    runImport({ ...given, isDryRun: true, onStep }, empty, progress).then(
      (state) => show(state, false),
      (error) => show(last, false, signal.aborted ? null : error),
    );
  };
  const own = held?.of === of ? held : undefined;
  return {
    state: own?.state ?? null,
    refused: own?.refused ?? [],
    error: own?.error ?? null,
    isRunning: own?.isRunning ?? false,
    isWaiting,
    start,
    stop: () => controller.current?.abort(),
  };
}

const shownRows = 100;

export function DryRunResult({
  dryRun: { state, refused, isRunning, isWaiting, error },
}: {
  dryRun: DryRun;
}) {
  const texts = useTexts(importCatalog);
  const place = useRef<HTMLElement>(null);
  // The dialog may be longer than its window.
  // New browsers return a promise, which is not what an effect returns.
  useEffect(() => void place.current?.scrollIntoView({ block: 'nearest' }), [isRunning]);
  if (state === null) return null;
  return (
    <section ref={place} aria-label={texts.dryRunTitle} className="scroll-mb-20 space-y-2">
      <h3 className="font-medium">{texts.dryRunTitle}</h3>
      {isRunning && (
        <p className="flex items-center gap-2">
          <progress
            aria-label={texts.dryRunTitle}
            className="h-1.5 w-40"
            max={state.rowCount}
            value={state.next}
          />
          <span className="text-n11 tabular-nums">
            {texts.of(formatNumber(state.next), formatNumber(state.rowCount))}
          </span>
          {isWaiting && <span className="text-waiting">{texts.waiting}</span>}
        </p>
      )}
      <p role="status">
        {!isRunning &&
          (state.isComplete
            ? ''
            : `${texts.onlyChecked(formatNumber(state.next), formatNumber(state.rowCount))} `)}
        {texts.would(
          formatNumber(state.created),
          formatNumber(state.updated),
          formatNumber(state.refused),
        )}
      </p>
      <Problem error={error} />
      {refused.length > 0 && (
        <>
          <ol className="max-h-48 overflow-auto rounded border border-n5" tabIndex={0}>
            {refused.slice(0, shownRows).map(({ line, reason }, at) => (
              <li key={at} className="flex gap-3 border-b border-n4 px-2 py-1 last:border-0">
                <span className="w-16 shrink-0 text-n10 tabular-nums">
                  {texts.line(String(line))}
                </span>
                <span className="min-w-0 text-failed">{reason}</span>
              </li>
            ))}
          </ol>
          <p className="flex flex-wrap items-center gap-2 text-n11">
            {refused.length > shownRows && texts.firstOnes(formatNumber(shownRows))}
            {!isRunning && (
              <Button onClick={() => saveRefused(refused, texts)}>{texts.saveRefused}</Button>
            )}
          </p>
        </>
      )}
    </section>
  );
}
