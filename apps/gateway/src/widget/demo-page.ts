import { createHash } from 'node:crypto';
import { escape } from '../docs/render-page';

const style = `
:root { color-scheme: light dark; font: 15px/1.55 ui-sans-serif, system-ui, sans-serif; }
body { max-width: 42rem; margin: 0 auto; padding: 3rem 1.25rem 8rem; color: light-dark(#1d2228, #e9ecef); background: light-dark(#fff, #16191d); }
h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
h2 { font-size: 1rem; margin: 2rem 0 0.5rem; }
pre { overflow-x: auto; padding: 0.875rem 1rem; border: 1px solid light-dark(#d9dee3, #363c44); border-radius: 8px; background: light-dark(#f6f7f9, #1d2126); }
code { font: 13px/1.6 ui-monospace, monospace; }
a { color: light-dark(#1f5fa8, #8cbcf2); }
`;

/**
 * A policy as strict as that of any site: the chat needs the script, and connections
 * to the gateway.
 */
export const demoPolicy = `default-src 'none'; script-src 'self'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page with the chat of a publishable key; without one, how to create it. */
export function renderDemo(address: string, given: string | null): string {
  const key = given !== null && /^pk_(dev|prod)_[\w-]{1,60}$/.test(given) ? given : null;
  const lines = (chat: string) => `<script src="${address}/widget/v1.js" defer></script>\n${chat}`;
  const chat = `<parley-chat publishable-key="${key ?? 'pk_dev_…'}"></parley-chat>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A page with the chat</title>
<style>${style}</style>
${key === null ? '' : '<script src="v1.js" defer></script>'}
</head>
<body>
<h1>A page with the chat</h1>
${
  key === null
    ? `<p>This page shows the chat of a publishable key. Create one for an agent, and open this page with <code>?key=</code> and the key:</p>
<pre tabindex="0"><code>npx parley publishable-keys create --name demo --agent shop-assistant --origins ${escape(address)}</code></pre>`
    : `<p>Open the chat in the corner and ask the agent something.</p>
<h2>On your own page</h2>
<p>The page's origin must be one of the key's origins.</p>
<pre tabindex="0"><code>${escape(lines(chat))}</code></pre>
${chat}`
}
</body>
</html>
`;
}
