import { useTexts } from '../../i18n';
import { buildCatalog } from './texts';

/** A part of a prompt; `name`: what a template expression names. */
interface PromptPart {
  text: string;
  name: string | null;
}

const call = String.raw`\((?:[^"()]|"(?:[^"\\]|\\.)*")*\)`;
const fallback = String.raw`\|\s*"(?:[^"\\]|\\.)*"`;
/** `{{path | "text"}}` and `{{tool.name({json})}}`; else whatever is between braces (docs/reference/prompts.md#syntax). */
const expression = new RegExp(
  String.raw`\{\{\s*([A-Za-z_][\w.-]*)\s*(?:${call})?\s*(?:${fallback})?\s*\}\}|\{\{((?!\{\{)[^]*?)\}\}`,
  'g',
);

/** The texts of a template, and its expressions. */
export function splitTemplate(template: string): PromptPart[] {
  const parts: PromptPart[] = [];
  let from = 0;
  for (const match of template.matchAll(expression)) {
    if (match.index > from) parts.push({ text: template.slice(from, match.index), name: null });
    parts.push({ text: match[0], name: match[1] ?? match[2]?.trim() ?? '' });
    from = match.index + match[0].length;
  }
  if (from < template.length) parts.push({ text: template.slice(from), name: null });
  return parts;
}

/**
 * The values of a compiled prompt: what is between the texts of its template. Expressions that follow each other are one
 * part. A prompt that has other texts than its template is one part without a name.
 */
export function markValues(template: string, compiled: string): PromptPart[] {
  const parts: PromptPart[] = [];
  const templateParts = splitTemplate(template);
  let names: string[] = [];
  let from = 0;
  const addValue = (to: number) => {
    if (names.length > 0) parts.push({ text: compiled.slice(from, to), name: names.join(', ') });
    names = [];
  };
  for (const [at, { text, name }] of templateParts.entries()) {
    if (name !== null) {
      names.push(name);
      continue;
    }
    // The last text ends the prompt, so a value that contains the same text is not cut.
    const start = at === templateParts.length - 1 ? compiled.length - text.length : compiled.indexOf(text, from);
    if (start < from || !compiled.startsWith(text, start) || (names.length === 0 && start > from))
      return [{ text: compiled, name: null }];
    addValue(start);
    parts.push({ text, name: null });
    from = start + text.length;
  }
  addValue(compiled.length);
  return parts;
}

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
