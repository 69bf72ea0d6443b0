import { useTexts } from '../../i18n';
import type { PromptPart } from './prompt-parts';
import { buildCatalog } from './texts';

/** A prompt whose expressions or values are marked. */
export function PromptText({ parts, label }: { parts: readonly PromptPart[]; label: string }) {
  const texts = useTexts(buildCatalog);
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-[32rem] overflow-auto rounded border border-n5 bg-n2 p-3 font-sans text-base leading-relaxed whitespace-pre-wrap"
    >
      {parts.map(({ text, name }, at) =>
        name === null ? (
          text
        ) : (
          <mark
            key={at}
            title={name}
            className={`rounded-[3px] px-0.5 ${text.includes('[TEMPLATE_ERROR') ? 'bg-failed-soft text-failed' : 'bg-accent-soft text-accent'}`}
          >
            {text === '' ? texts.emptyValue : text}
          </mark>
        ),
      )}
    </pre>
  );
}
