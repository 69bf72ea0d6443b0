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
    entryPoints: [join(root, 'libs/widget/src/markdown.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'markdown',
    target: 'es2022',
  });
  await page.route('http://page.invalid/**', (route) =>
    route.request().url().endsWith('.js')
      ? route.fulfill({ contentType: 'text/javascript', body: outputFiles[0]!.text })
      : route.fulfill({
          contentType: 'text/html',
          headers: {
            'Content-Security-Policy': "default-src 'self'; require-trusted-types-for 'script'",
          },
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

// What each mark means is tested in libs/widget/src/parse-markdown.test.ts; here, that its tree
// becomes elements.
test('a text with every element is rendered with its attributes', async () => {
  if (browser === null) return;
  const text =
    '# Big\n### Small\n\na **b** *c* ~~d~~ `e` [shop](https://a.example/b?c=1&d=2)\nf\n\n- g\n  1. h\n\n> i "j" & <k>\n\n---\n\n| l |\n|---|\n| m |\n\n```\nn = "<b>";\n```';
  const address = 'https://a.example/b?c=1&amp;d=2';
  expect(await render(text)).toBe(
    [
      '<h3>Big</h3><h4>Small</h4>',
      `<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code> ${link(address, 'shop')}<br>f</p>`,
      '<ul><li>g<ol start="1"><li>h</li></ol></li></ul>',
      '<blockquote><p>i "j" &amp; &lt;k&gt;</p></blockquote><hr>',
      '<div class="scroll" tabindex="0"><table><thead><tr><th>l</th></tr></thead><tbody><tr><td>m</td></tr></tbody></table></div>',
      '<pre tabindex="0"><code>n = "&lt;b&gt;";</code></pre>',
    ].join(''),
  );
});

test.each([
  ['HTML is text', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
  [
    'no script in a link',
    '[a](javascript:alert(1)) [b](JAVASCRIPT:alert) [c](data:text/html,x) [d](vbscript:x)',
  ],
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
