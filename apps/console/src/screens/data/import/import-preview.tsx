import { useTexts } from '../../../i18n';
import type { FileRow, RowProblem } from './messages';
import { importCatalog } from './texts';

/** The first rows as they will be sent, and what is wrong with them. */
export function ImportPreview({
  rows,
  explain,
}: {
  rows: readonly FileRow[];
  explain: (problem: RowProblem) => string;
}) {
  const texts = useTexts(importCatalog);
  return (
    <details open>
      <summary className="text-n11">{texts.preview}</summary>
      <ol className="mt-1 max-h-60 overflow-auto rounded border border-n5" tabIndex={0}>
        {rows.map((row) => (
          <li key={row.line} className="flex gap-3 border-b border-n4 px-2 py-1 last:border-0">
            <span className="w-14 shrink-0 text-n10 tabular-nums">
              {texts.line(String(row.line))}
            </span>
            {row.ok ? (
              <span className="min-w-0">
                <span className="text-n11">
                  {row.entity.id === undefined ? texts.creates : texts.updates(row.entity.id)}
                </span>{' '}
                <code className="font-mono text-xs">
                  {JSON.stringify(row.entity.data).slice(0, 400)}
                </code>
              </span>
            ) : (
              <span className="text-failed">{explain(row.problem)}</span>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}
