import { type MarkdownNode, parseMarkdown } from './parse-markdown';

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** A tree as HTML, as a browser writes it. */
function html(node: MarkdownNode): string {
  if (typeof node === 'string') return escaped(node).replaceAll('&quot;', '"');
  const attributes = Object.entries(node.attributes).map(
    ([name, value]) => ` ${name}="${escaped(value)}"`,
  );
  const start = `<${node.tag}${attributes.join('')}>`;
  if (node.tag === 'br' || node.tag === 'hr') return start;
  return `${start}${node.children.map(html).join('')}</${node.tag}>`;
}
const render = (text: string): string => parseMarkdown(text).map(html).join('');
const link = (address: string, label: string) =>
  `<a href="${address}" target="_blank" rel="noopener noreferrer nofollow">${label}</a>`;

test.each([
  ['One line', '<p>One line</p>'],
  ['a\nb\n\nc', '<p>a<br>b</p><p>c</p>'],
  [
    'a **b** *c* __d__ _e_ ~~f~~ `g`',
    '<p>a <strong>b</strong> <em>c</em> <strong>d</strong> <em>e</em> <del>f</del> <code>g</code></p>',
  ],
  ['**bold *and* more**', '<p><strong>bold <em>and</em> more</strong></p>'],
  ['snake_case_name and 2 * 3 * 4', '<p>snake_case_name and 2 * 3 * 4</p>'],
  ['\\*not\\* \\[a\\](b)', '<p>*not* [a](b)</p>'],
  ['# Big\n### Small ###', '<h3>Big</h3><h4>Small</h4>'],
  ['- a\n- b\n  - c\n- d', '<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>'],
  ['3. a\n4. b', '<ol start="3"><li>a</li><li>b</li></ol>'],
  [
    '1. a\n   - x\n   - y\n2. b',
    '<ol start="1"><li>a<ul><li>x</li><li>y</li></ul></li><li>b</li></ol>',
  ],
  ['- a\n\n- b', '<ul><li>a</li><li>b</li></ul>'],
  ['Sizes:\n- S\n- M\n\nBye', '<p>Sizes:</p><ul><li>S</li><li>M</li></ul><p>Bye</p>'],
  ['> a\n> b', '<blockquote><p>a<br>b</p></blockquote>'],
  [
    '```js\nlet a = "<b>";\n```\nx',
    '<pre tabindex="0"><code>let a = "&lt;b&gt;";</code></pre><p>x</p>',
  ],
  ['```\nopen', '<pre tabindex="0"><code>open</code></pre>'],
  ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
  [
    '| a | b |\n|---|--:|\n| 1 | **2** |',
    '<div class="scroll" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><strong>2</strong></td></tr></tbody></table></div>',
  ],
  ['[shop](https://a.example/b)', `<p>${link('https://a.example/b', 'shop')}</p>`],
  ['[**x**](mailto:a@b.example)', `<p>${link('mailto:a@b.example', '<strong>x</strong>')}</p>`],
  [
    'See https://a.example/b?c=1&d=2.',
    `<p>See ${link('https://a.example/b?c=1&amp;d=2', 'https://a.example/b?c=1&amp;d=2')}.</p>`,
  ],
  ['(https://a.example)', `<p>(${link('https://a.example', 'https://a.example')})</p>`],
  ['![a cat](https://a.example/cat.png)', `<p>${link('https://a.example/cat.png', 'a cat')}</p>`],
  ['👋🏽 **שלום** _नमस्ते_', '<p>👋🏽 <strong>שלום</strong> <em>नमस्ते</em></p>'],
  ['', ''],
  ['**a** '.repeat(6_000), `<p>${'**a** '.repeat(6_000)}</p>`],
  ['a\r\nb\r\n\r\nc', '<p>a<br>b</p><p>c</p>'],
  [' \n\t\n', ''],
  ['####### no heading', '<p>####### no heading</p>'],
  ['# C#', '<h3>C#</h3>'],
  ['## ##', '<h3></h3>'],
  ['* * *', '<hr>'],
  ['- a\n  still a\n\n  more', '<ul><li>a<br>still a<p>more</p></li></ul>'],
  ['1) a\n- b', '<ol start="1"><li>a</li></ol><ul><li>b</li></ul>'],
  ['> - a\n> > b', '<blockquote><ul><li>a</li></ul><blockquote><p>b</p></blockquote></blockquote>'],
  ['~~~\n```\n~~~', '<pre tabindex="0"><code>```</code></pre>'],
  ['`a\\*b*`', '<p><code>a\\*b*</code></p>'],
  ['**a', '<p>**a</p>'],
  ['** a **', '<p><strong> a </strong></p>'],
  ['a|b', '<p>a|b</p>'],
  ['| a |\nb', '<p>| a |<br>b</p>'],
  ['[a](tel:+56912345678)', `<p>${link('tel:+56912345678', 'a')}</p>`],
  ['[a](/relative) [b](?query)', '<p>a b</p>'],
  ['[](https://a.example)', `<p>${link('https://a.example', 'https://a.example')}</p>`],
  [
    'https://a.example/x_(y)',
    `<p>${link('https://a.example/x_(y', 'https://a.example/x_(y')})</p>`,
  ],
  ['[a](https://a.example/x_(y))', `<p>${link('https://a.example/x_(y)', 'a')}</p>`],
])('%j', (text, expected) => {
  expect(render(text)).toBe(expected);
});

function elementsIn(
  nodes: readonly MarkdownNode[],
): { tag: string; attributes: Record<string, string> }[] {
  return nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [node, ...elementsIn(node.children)],
  );
}

test.each([
  ['HTML is text', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
  [
    'no script in a link',
    '[a](javascript:alert(1)) [b](JAVASCRIPT:alert) [c](data:text/html,x) [d](vbscript:x)',
  ],
  ['no script in an address', 'https://a.example/"onclick="alert(1)'],
  ['no attribute in a label', '[" onmouseover="alert(1)](https://a.example)'],
  ['no control characters', '[a](java\u0000script:alert(1)) [b](\tjavascript:alert(1))'],
  [
    'no script in a link of another spelling',
    '[a](jAvAsCrIpT:alert) [b](file:///etc/passwd) [c](blob:https://x)',
  ],
  ['no address of this page', '[a](//evil.example) [b](https:evil) [c](?x)'],
  ['no address with a blank', '[a](https://a.example "title") [b](<https://a.example>)'],
])('%s', (_name, text) => {
  for (const { tag, attributes } of elementsIn(parseMarkdown(text))) {
    expect(['p', 'a']).toContain(tag);
    if (tag !== 'a') continue;
    expect(Object.keys(attributes)).toEqual(['href', 'target', 'rel']);
    expect(attributes.href).toMatch(/^https:\/\//);
  }
});

test('quotes and lists that are nested without end are text at some depth', () => {
  const depthOf = (nodes: readonly MarkdownNode[]): number =>
    Math.max(
      0,
      ...nodes.map((node) => (typeof node === 'string' ? 0 : 1 + depthOf(node.children))),
    );
  expect(depthOf(parseMarkdown('> '.repeat(5_000) + 'a'))).toBeLessThan(10);
  expect(
    depthOf(
      parseMarkdown(Array.from({ length: 100 }, (_, at) => `${' '.repeat(at * 2)}- a`).join('\n')),
    ),
  ).toBeLessThan(16);
  expect(depthOf(parseMarkdown('**_'.repeat(500) + 'a' + '_**'.repeat(500)))).toBeLessThan(10);
});

test('all words of a text are shown, in their order', () => {
  const words = (nodes: readonly MarkdownNode[]): string =>
    nodes.map((node) => (typeof node === 'string' ? node : words(node.children))).join('');
  const text =
    '# a\n\n> b\n\n1. c\n   - d\n\n| e | f |\n|---|---|\n| g | h |\n\n```\ni\n```\n**j** _k_ `l` [m](https://x.example) n';
  expect(words(parseMarkdown(text)).replaceAll(/\s/g, '')).toBe('abcdefghijklmn');
});

test.each([
  '*',
  '**',
  '_',
  '~~',
  '`',
  '[',
  '[a](',
  '![',
  '](',
  '> ',
  '- ',
  '\n- ',
  '|',
  '|a|\n',
  '# ',
  '\\',
  'https://',
  '1. ',
  '```\n',
  '  - a\n',
  '(a',
  '-',
  '- ',
  '_ ',
  '#',
  ')',
])('a text of nothing but %j takes no quadratic time', (mark) => {
  for (const piece of [mark, `a${mark}`, `${mark} a`]) {
    const text = piece.repeat(30_000 / piece.length - 10);
    // A pattern that fails at the last character would try all ways to divide the text.
    for (const ending of ['', 'x', ' x']) {
      const startedAt = performance.now();
      parseMarkdown(text + ending);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
    }
  }
});
