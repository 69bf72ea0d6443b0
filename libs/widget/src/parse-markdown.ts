/** An element with its children. A text is shown as it is, never as markup. */
export interface MarkdownElement {
  tag: MarkdownTag;
  attributes: Record<string, string>;
  children: MarkdownNode[];
}
export type MarkdownNode = MarkdownElement | string;

type MarkdownTag =
  | (
      | 'p'
      | 'br'
      | 'hr'
      | 'h3'
      | 'h4'
      | 'pre'
      | 'code'
      | 'blockquote'
      | 'ul'
      | 'ol'
      | 'li'
      | 'div'
      | 'a'
    )
  | ('table' | 'thead' | 'tbody' | 'tr' | 'th' | 'td' | 'strong' | 'em' | 'del');

const element = (
  tag: MarkdownTag,
  attributes: Record<string, string> = {},
  ...children: MarkdownNode[]
): MarkdownElement => ({ tag, attributes, children });

/** Longer texts are shown without formatting. */
const maxChars = 30_000;
const maxDepth = 6;

/**
 * Reads the Markdown of an agent: paragraphs, headings, lists, tables, quotes, code and links. HTML
 * is shown as text, and images as links, so that a reply loads nothing. Takes a time proportional
 * to the length of the text.
 */
export function parseMarkdown(text: string): MarkdownElement[] {
  if (text.length > maxChars) return [element('p', {}, text)];
  return blocks(text.replaceAll('\r\n', '\n').split('\n'), 0);
}

const fence = /^ {0,3}(```+|~~~+)/;
const heading = /^ {0,3}(#{1,6}) +(.*)$/;
const mark = /^ {0,3}([-*_])/;
const rules = { '-': /^-{3,}$/, '*': /^\*{3,}$/, _: /^_{3,}$/ };
/** Three or more marks of one kind, with spaces between them. */
const isRule = (line: string): boolean => {
  const kind = mark.exec(line)?.[1] as keyof typeof rules | undefined;
  return kind !== undefined && rules[kind].test(line.replaceAll(' ', ''));
};
const item = /^( *)(?:[-*+]|(\d{1,9})[.)])( +)(?=\S)/;
const quote = /^ {0,3}> ?/;
const row = /^ {0,3}\|.*\| *$/;
const divider = /^[ |:-]+$/;

/** What interrupts a paragraph. */
const begins = (line: string): boolean =>
  line.trim() === '' ||
  isRule(line) ||
  [fence, heading, item, quote, row].some((pattern) => pattern.test(line));

function blocks(lines: readonly string[], depth: number): MarkdownElement[] {
  const made: MarkdownElement[] = [];
  let at = 0;
  const takeWhile = (isPart: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && isPart(lines[at]!)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const [, opened] = fence.exec(line) ?? [];
    if (line.trim() === '') at += 1;
    else if (opened !== undefined) {
      at += 1;
      const code = takeWhile((next) => !next.trimStart().startsWith(opened));
      at += 1;
      made.push(element('pre', { tabindex: '0' }, element('code', {}, code.join('\n'))));
    } else if (isRule(line)) {
      at += 1;
      made.push(element('hr'));
    } else if (heading.test(line)) {
      at += 1;
      const [, marks, title] = heading.exec(line)!;
      made.push(
        element(marks!.length < 3 ? 'h3' : 'h4', {}, ...inline(withoutClosing(title!.trimEnd()))),
      );
    } else if (depth < maxDepth && quote.test(line)) {
      const quoted = takeWhile((next) => quote.test(next)).map((next) => next.replace(quote, ''));
      made.push(element('blockquote', {}, ...blocks(quoted, depth + 1)));
    } else if (depth < maxDepth && item.test(line)) {
      made.push(list(takeWhile, line, depth));
    } else if (row.test(line) && divider.test(lines[at + 1] ?? 'none')) {
      made.push(table(takeWhile((next) => row.test(next))));
    } else {
      at += 1;
      made.push(element('p', {}, ...paragraph([line, ...takeWhile((next) => !begins(next))])));
    }
  }
  return made;
}

function paragraph(lines: readonly string[]): MarkdownNode[] {
  return lines.flatMap((line, at) => [...(at > 0 ? [element('br')] : []), ...inline(line.trim())]);
}

/**
 * Items at the indentation of the first one. Lines that are indented further belong to the
 * item before them.
 */
function list(
  takeWhile: (isPart: (line: string) => boolean) => string[],
  first: string,
  depth: number,
): MarkdownElement {
  const [, indentation, number] = item.exec(first)!;
  const indent = indentation!.length;
  const isItem = (line: string) => {
    const found = item.exec(line);
    return (
      found !== null &&
      found[1]!.length <= indent + 1 &&
      (found[2] === undefined) === (number === undefined)
    );
  };
  let isAfterBlank = false;
  const lines = takeWhile((line) => {
    const indented = line.search(/\S/);
    const isPart =
      indented === -1 || indented > indent || isItem(line) || !(isAfterBlank || begins(line));
    isAfterBlank = indented === -1;
    return isPart;
  });
  const items: string[][] = [];
  for (const line of lines) {
    if (isItem(line)) items.push([line.replace(item, '')]);
    else items.at(-1)!.push(line.slice(Math.min(Math.max(line.search(/\S/), 0), indent + 2)));
  }
  const made = items.map((content) => {
    // The text of an item is no paragraph, unless there are several.
    const nodes = blocks(content, depth + 1);
    return element(
      'li',
      {},
      ...nodes.flatMap((node, at) => (at === 0 && node.tag === 'p' ? node.children : [node])),
    );
  });
  return number === undefined
    ? element('ul', {}, ...made)
    : element('ol', { start: number }, ...made);
}

function table([head, , ...rows]: string[]): MarkdownElement {
  const cellsOf = (line: string) => line.trim().slice(1, -1).split('|');
  const rowOf = (tag: 'th' | 'td', line: string) =>
    element('tr', {}, ...cellsOf(line).map((cell) => element(tag, {}, ...inline(cell.trim()))));
  const body = rows.map((line) => rowOf('td', line));
  return element(
    'div',
    { class: 'scroll', tabindex: '0' },
    element('table', {}, element('thead', {}, rowOf('th', head!)), element('tbody', {}, ...body)),
  );
}

/**
 * Each alternative ends within a bounded number of characters, so that a text of opening marks
 * takes no quadratic time.
 */
const marks = new RegExp(
  [
    '(?<escaped>\\\\[!-/:-@[-`{-~])',
    '(?<ticks>`{1,3})(?<code>[^`\\n]{1,2000})\\k<ticks>(?!`)',
    '!?\\[(?<label>[^[\\]\\n]{0,500})\\]\\((?<address>[^\\s()]{1,2000}(?:\\([^\\s()]{0,200}\\)[^\\s()]{0,500})?)\\)',
    '(?<link>https?://[^\\s<>"]{1,2000})',
    '\\*\\*(?<strong>[^*\\n](?:[^*\\n]|\\*(?!\\*)){0,1000})\\*\\*',
    '(?<![\\p{L}\\p{N}_])__(?<strong2>[^_\\n]{1,1000})__(?![\\p{L}\\p{N}_])',
    '\\*(?<em>[^\\s*](?:[^*\\n]{0,1000}[^\\s*])?)\\*',
    '(?<![\\p{L}\\p{N}_])_(?<em2>[^\\s_](?:[^_\\n]{0,1000}[^\\s_])?)_(?![\\p{L}\\p{N}_])',
    '~~(?<del>[^~\\n]{1,1000})~~',
  ].join('|'),
  'gu',
);

function inline(text: string, depth = 0): MarkdownNode[] {
  if (depth > maxDepth) return [text];
  const made: MarkdownNode[] = [];
  let end = 0;
  for (const found of text.matchAll(marks)) {
    if (found.index > end) made.push(text.slice(end, found.index));
    end = found.index + found[0].length;
    const { escaped, code, label, address, link, strong, strong2, em, em2, del } = found.groups!;
    const within = (part: string) => inline(part, depth + 1);
    if (escaped !== undefined) made.push(escaped.slice(1));
    else if (code !== undefined) made.push(element('code', {}, code.trim()));
    else if (address !== undefined)
      made.push(...linked(address, label === '' ? [address] : within(label!)));
    else if (link !== undefined) {
      // Punctuation after an address belongs to the sentence.
      const target = withoutEnd(link, `.,;:!?'"*_~)]`);
      made.push(...linked(target, [target]), link.slice(target.length));
    } else if (strong ?? strong2) made.push(element('strong', {}, ...within((strong ?? strong2)!)));
    else if (em ?? em2) made.push(element('em', {}, ...within((em ?? em2)!)));
    else made.push(element('del', {}, ...within(del!)));
  }
  made.push(text.slice(end));
  return made.filter((node) => node !== '');
}

/** A heading may be closed by marks after a space. */
function withoutClosing(title: string): string {
  const open = withoutEnd(title, '#');
  return open === '' || open.endsWith(' ') ? open.trimEnd() : title;
}

/** The text without the characters at its end that are among `ending`. */
function withoutEnd(text: string, ending: string): string {
  let end = text.length;
  while (end > 0 && ending.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/**
 * A link to a page, a mail address or a telephone number. Of others, such as `javascript:`, only
 * the label is shown.
 */
function linked(address: string, label: MarkdownNode[]): MarkdownNode[] {
  if (!/^(https?:\/\/|mailto:|tel:)/i.test(address)) return label;
  const target = { href: address, target: '_blank', rel: 'noopener noreferrer nofollow' };
  return [element('a', target, ...label)];
}
