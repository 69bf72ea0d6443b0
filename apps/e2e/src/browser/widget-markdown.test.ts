import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { openBrowser } from '../open-browser';
import { root } from '../install-packages';

/** The Markdown of the chat for websites, rendered in Chromium under Trusted Types. */
let browser: Browser | null;
let page: Page;
beforeAll(async () => {
  browser = await openBrowser();
  if (browser === null) return;
  page = await browser.newPage();
  const { outputFiles } = await build({
    ...{ entryPoints: [join(root, 'libs/widget/src/markdown.ts')], bundle: true, write: false },
    ...{ format: 'iife', globalName: 'markdown', target: 'es2022' },
  });
  await page.route('http://page.invalid/**', (route) =>
    route.request().url().endsWith('.js')
      ? route.fulfill({ contentType: 'text/javascript', body: outputFiles[0]!.text })
      : route.fulfill({
          contentType: 'text/html',
          headers: { 'Content-Security-Policy': "default-src 'self'; require-trusted-types-for 'script'" },
          body: '<!doctype html><title>t</title><script src="/markdown.js"></script>',
        }),
  );
  await page.goto('http://page.invalid/');
});
afterAll(() => browser?.close());

const render = async (text: string): Promise<string> =>
  (await page.evaluate(
    `(() => { const at = document.createElement('div'); at.append(...markdown.renderMarkdown(${JSON.stringify(text)})); return at.innerHTML; })()`,
  )) as string;
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
  ['1. a\n   - x\n   - y\n2. b', '<ol start="1"><li>a<ul><li>x</li><li>y</li></ul></li><li>b</li></ol>'],
  ['- a\n\n- b', '<ul><li>a</li><li>b</li></ul>'],
  ['Sizes:\n- S\n- M\n\nBye', '<p>Sizes:</p><ul><li>S</li><li>M</li></ul><p>Bye</p>'],
  ['> a\n> b', '<blockquote><p>a<br>b</p></blockquote>'],
  ['```js\nlet a = "<b>";\n```\nx', '<pre tabindex="0"><code>let a = "&lt;b&gt;";</code></pre><p>x</p>'],
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
])('%j', async (text, expected) => {
  if (browser !== null) expect(await render(text)).toBe(expected);
});

test.each([
  ['HTML is text', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
  ['no script in a link', '[a](javascript:alert(1)) [b](JAVASCRIPT:alert) [c](data:text/html,x) [d](vbscript:x)'],
  ['no script in an address', 'https://a.example/"onclick="alert(1)'],
  ['no attribute in a label', '[" onmouseover="alert(1)](https://a.example)'],
  ['no control characters', '[a](java\u0000script:alert(1)) [b](\tjavascript:alert(1))'],
])('%s', async (_name, text) => {
  if (browser === null) return;
  const active = `(() => { const at = document.createElement('div'); at.append(...markdown.renderMarkdown(${JSON.stringify(text)}));
    return [...at.querySelectorAll('*')].flatMap((node) => [node.localName, ...node.getAttributeNames()])
      .concat([...at.querySelectorAll('a')].map(({ protocol }) => protocol)); })()`;
  const names = new Set((await page.evaluate(active)) as string[]);
  for (const name of ['p', 'a', 'href', 'target', 'rel', 'https:']) names.delete(name);
  expect([...names]).toEqual([]);
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
])(
  'a text of nothing but %j takes no quadratic time',
  async (mark) => {
    if (browser === null) return;
    for (const piece of [mark, `a${mark}`, `${mark} a`]) {
      const text = piece.repeat(30_000 / piece.length - 10);
      // A pattern that fails at the last character would try all ways to divide the text.
      for (const ending of ['', 'x', ' x']) expect(typeof (await render(text + ending))).toBe('string');
    }
  },
  10_000,
);
