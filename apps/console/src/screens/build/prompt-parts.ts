/** A part of a prompt; `name`: what a template expression names. */
export interface PromptPart {
  text: string;
  name: string | null;
}

/** As on the server (libs/tools/src/templates): what is beyond these limits is text. */
const maxExpressions = 1_000;
const maxArgsChars = 20_000;

const namePattern = /\s*([A-Za-z_][\w.-]*)\s*/y;
const fallbackPattern = /\s*\|\s*"(?:[^"\\]|\\.)*"/y;
const endPattern = /\s*\}\}/y;

function match(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/**
 * The texts of a template, and its expressions: `{{path | "text"}}` and `{{tool.name({json})}}`;
 * else whatever is between braces (docs/reference/prompts.md#syntax). Each pattern continues where
 * the one before it ended, so that blanks are read once.
 */
export function splitTemplate(template: string): PromptPart[] {
  const parts: PromptPart[] = [];
  let from = 0;
  for (let count = 0; count < maxExpressions; count += 1) {
    const open = template.indexOf('{{', from);
    const found = open === -1 ? null : (readNamed(template, open) ?? readOther(template, open));
    if (found === null) break;
    if (open > from) parts.push({ text: template.slice(from, open), name: null });
    parts.push(found);
    from = open + found.text.length;
  }
  if (from < template.length) parts.push({ text: template.slice(from), name: null });
  return parts;
}

function readNamed(template: string, open: number): PromptPart | null {
  const name = match(namePattern, template, open + 2);
  if (name === null) return null;
  let at = open + 2 + name[0].length;
  if (template[at] === '(') {
    const close = closingParenthesis(template, at);
    if (close === -1) return null;
    at = close + 1;
  }
  at += match(fallbackPattern, template, at)?.[0].length ?? 0;
  const end = match(endPattern, template, at);
  return end && { text: template.slice(open, at + end[0].length), name: name[1]! };
}

function readOther(template: string, open: number): PromptPart | null {
  const end = template.indexOf('}}', open + 2);
  if (end === -1) return null;
  return { text: template.slice(open, end + 2), name: template.slice(open + 2, end).trim() };
}

/**
 * The parenthesis that closes the one at `open`, without those in strings; -1 when there is none.
 */
function closingParenthesis(text: string, open: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = open; at < text.length && at - open <= maxArgsChars; at += 1) {
    const character = text[at];
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '(') depth += 1;
    else if (character === ')' && --depth === 0) return at;
  }
  return -1;
}

/**
 * The values of a compiled prompt: what is between the texts of its template. Expressions
 * that follow each other are one part. A prompt that has other texts than its template is one
 * part without a name.
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
    const start =
      at === templateParts.length - 1
        ? compiled.length - text.length
        : compiled.indexOf(text, from);
    if (start < from || !compiled.startsWith(text, start) || (names.length === 0 && start > from))
      return [{ text: compiled, name: null }];
    addValue(start);
    parts.push({ text, name: null });
    from = start + text.length;
  }
  addValue(compiled.length);
  return parts;
}
