import { AlertTriangle, CheckCircle2, CircleStop, X, XCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import { formatNumber, useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Dialog } from '../parts/dialog';
import { useWorks } from './use-works';
import { type Work, dismissWork, stopWork } from './work';
import { workCatalog } from './texts';

/**
 * The long works of this page, on all screens. The browser asks before the page is
 * left while one runs.
 */
export function WorkLines() {
  const texts = useTexts(workCatalog);
  const works = useWorks();
  const isRunning = works.some(isActive);
  useEffect(() => {
    if (!isRunning) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [isRunning]);
  return (
    <section
      aria-label={texts.region}
      className={works.length === 0 ? 'hidden' : 'shrink-0 border-b border-n5 bg-n2'}
    >
      {works.map((work) => (
        <Line key={work.id} work={work} />
      ))}
    </section>
  );
}

const isActive = ({ state }: Work): boolean => state === 'running' || state === 'waiting';

function Line({ work }: { work: Work }) {
  const texts = useTexts(workCatalog);
  const [isOpen, open] = useState(false);
  const { id, title, done, total, state, message, refusedCount, actions } = work;
  const count =
    total === undefined
      ? formatNumber(done)
      : texts.of(formatNumber(done), formatNumber(Math.max(total, done)));
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1">
      <StateIcon work={work} />
      <span className="max-w-full truncate font-medium">{title}</span>
      {isActive(work) ? (
        <>
          <progress
            aria-label={title}
            className="h-1.5 w-32 accent-accent"
            max={total === undefined ? undefined : Math.max(total, 1)}
            value={total === undefined ? undefined : done}
          />
          <span className="text-n11 tabular-nums">{count}</span>
          {state === 'waiting' && <span className="text-waiting">{texts.waiting}</span>}
        </>
      ) : (
        <span role="status" className="min-w-0 text-n11">
          {message !== undefined && state === 'failed'
            ? texts.failed(message)
            : (message ?? (state === 'stopped' ? texts.stopped(count) : ''))}
        </span>
      )}
      {refusedCount > 0 && (
        <button type="button" className="tap text-failed underline" onClick={() => open(true)}>
          {texts.refused(formatNumber(refusedCount))}
        </button>
      )}
      <span className="ml-auto flex gap-2">
        {isActive(work) ? (
          <Button icon={CircleStop} onClick={() => stopWork(id)}>
            {texts.stop}
          </Button>
        ) : (
          <>
            {actions?.map(({ text, run, isFollowed }) => (
              <Button
                key={text}
                onClick={() => {
                  run();
                  if (isFollowed) dismissWork(id);
                }}
              >
                {text}
              </Button>
            ))}
            <Button look="quiet" icon={X} label={texts.dismiss} onClick={() => dismissWork(id)} />
          </>
        )}
      </span>
      {isOpen && <RefusedItems work={work} onClose={() => open(false)} />}
    </div>
  );
}

function StateIcon({ work }: { work: Work }) {
  if (isActive(work)) return null;
  const size = { 'aria-hidden': true, size: 16 } as const;
  if (work.state === 'failed') return <XCircle {...size} className="text-failed" />;
  return work.state === 'stopped' || work.refusedCount > 0 ? (
    <AlertTriangle {...size} className="text-waiting" />
  ) : (
    <CheckCircle2 {...size} className="text-done" />
  );
}

function RefusedItems({
  work: { title, refused, refusedCount },
  onClose,
}: {
  work: Work;
  onClose: () => void;
}) {
  const texts = useTexts(workCatalog);
  return (
    <Dialog title={texts.refusedTitle} onClose={onClose} wide>
      <p className="mb-2 text-n11">{title}</p>
      {refusedCount > refused.length && (
        <p className="mb-2">{texts.firstOnes(formatNumber(refused.length))}</p>
      )}
      <table className="w-full text-left">
        <thead className="text-n11">
          <tr>
            <th className="w-1/3 py-1 pr-3 font-normal">{texts.item}</th>
            <th className="py-1 font-normal">{texts.reason}</th>
          </tr>
        </thead>
        <tbody>
          {refused.map(({ item, reason }, at) => (
            <tr key={at} className="border-t border-n4 align-top">
              <td className="py-1 pr-3 font-mono text-xs">{item}</td>
              <td className="py-1">{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
