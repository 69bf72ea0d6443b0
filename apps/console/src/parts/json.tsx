import { useTexts } from '../i18n';
import { CopyText } from './controls';

/** A JSON value as text. React escapes it, so nothing in it is markup. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const { states } = useTexts();
  const text =
    typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? states.noValue);
  return (
    <section aria-label={label} className="min-w-0">
      <div className="mb-1 flex items-center justify-between gap-2">
        <h3 className="font-medium text-n11">{label}</h3>
        <CopyText text={text}>
          <span className="text-xs text-n10">{states.copy}</span>
        </CopyText>
      </div>
      <pre
        tabIndex={0}
        className="max-h-96 overflow-auto rounded border border-n5 bg-n2 p-2 font-mono text-xs leading-relaxed whitespace-pre-wrap"
      >
        {text}
      </pre>
    </section>
  );
}

/** What a tool has written to its console. */
export function Logs({
  logs = [],
  label,
}: {
  logs?: readonly { level: string; message: string }[];
  label: string;
}) {
  if (logs.length === 0) return null;
  return (
    <Json
      value={logs.map(({ level, message }) => `${level}: ${message}`).join('\n')}
      label={label}
    />
  );
}
