import { ParleyApiError } from '@parley/client';
import type { ReactNode } from 'react';
import { messageOf } from '../api/errors';
import { useTexts } from '../i18n';
import { Button, CopyText } from './controls';

/** In place of content: what would be here, and the command that fills it. */
export function Empty({
  title,
  command,
  children,
}: {
  title: string;
  command?: string;
  children?: ReactNode;
}) {
  return (
    <div className="mx-auto max-w-md px-4 py-12 text-center">
      <h2 className="font-medium">{title}</h2>
      <div className="mt-1 space-y-3 text-n11">
        {children}
        {command && (
          <p>
            <CopyText text={command}>
              <code className="rounded bg-n3 px-2 py-1 font-mono text-xs">{command}</code>
            </CopyText>
          </p>
        )}
      </div>
    </div>
  );
}

/** What failed, its request, and what to try. Only this part of the page is replaced. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { states } = useTexts();
  const api = error instanceof ParleyApiError ? error : null;
  if (api?.status === 404) return <Empty title={states.notFoundTitle}>{states.notFound}</Empty>;
  if (api?.status === 403)
    return (
      <Empty title={states.errorTitle}>
        {api.code === 'requires_admin' ? states.forbidden : messageOf(api)}
      </Empty>
    );
  return (
    <div role="alert" className="mx-auto max-w-md px-4 py-12 text-center">
      <h2 className="font-medium">{states.errorTitle}</h2>
      <p className="mt-1 text-n11">{error instanceof Error ? messageOf(error) : String(error)}</p>
      {api?.requestId && (
        <p className="mt-1 text-n11">
          <CopyText text={api.requestId}>
            <span className="text-xs">{states.requestId(api.requestId)}</span>
          </CopyText>
        </p>
      )}
      {onRetry && (
        <Button className="mt-3" onClick={onRetry}>
          {states.retry}
        </Button>
      )}
    </div>
  );
}

/** Lines in the place of rows that are loading. They appear after 150 ms. */
export function Skeleton({ rows = 6, className = 'h-4' }: { rows?: number; className?: string }) {
  const { states } = useTexts();
  return (
    <div role="status" aria-busy aria-label={states.loading} className="space-y-3 p-4">
      {Array.from({ length: rows }, (_, at) => (
        <div
          key={at}
          className={`skeleton ${className}`}
          style={{ width: `${90 - ((at * 17) % 40)}%` }}
        />
      ))}
    </div>
  );
}

/** One line above the content. */
export function Notice({
  kind = 'waiting',
  children,
}: {
  kind?: 'waiting' | 'failed' | 'person';
  children: ReactNode;
}) {
  const look = {
    waiting: 'bg-waiting-soft text-waiting',
    failed: 'bg-failed-soft text-failed',
    person: 'bg-person-soft text-person',
  };
  return (
    <div className={`flex flex-wrap items-center gap-2 rounded px-3 py-1.5 ${look[kind]}`}>
      {children}
    </div>
  );
}

/** Why something was refused, as an error or as a text. Screen readers read it at once. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <div role="alert">
      <Notice kind="failed">{typeof error === 'string' ? error : messageOf(error)}</Notice>
    </div>
  );
}
