/**
 * The style sheet of the shadow root. Rules of the page cannot override `!important` here (CSS
 * Cascading, 6.4.4), so a page that resets all elements does not change the chat.
 */
export const style = `
:host {
  all: initial !important;
  position: fixed !important;
  inset-block-end: 20px !important;
  inset-inline-end: 20px !important;
  z-index: 2147483000 !important;
  color-scheme: inherit !important;
  font: 14px/1.45 var(--parley-font, ui-sans-serif, system-ui, sans-serif) !important;
  --accent: var(--parley-accent, light-dark(oklch(0.45 0.13 255), oklch(0.75 0.11 255)));
  --on-accent: var(--parley-on-accent, light-dark(white, oklch(0.2 0.02 255)));
  --surface: light-dark(white, oklch(0.21 0.01 255));
  --raised: light-dark(oklch(0.955 0.004 255), oklch(0.28 0.012 255));
  --line: light-dark(oklch(0.88 0.006 255), oklch(0.37 0.014 255));
  --text: light-dark(oklch(0.22 0.015 255), oklch(0.94 0.005 255));
  --muted: light-dark(oklch(0.48 0.015 255), oklch(0.74 0.01 255));
  --failed: light-dark(oklch(0.5 0.17 27), oklch(0.78 0.11 27));
}
:host([theme='light']) { color-scheme: light !important; }
:host([theme='dark']) { color-scheme: dark !important; }
:host([hidden]) { display: none !important; }
*, *::before { box-sizing: border-box; }
[hidden] { display: none !important; }
button, textarea { font: inherit; color: inherit; letter-spacing: inherit; margin: 0; }
button { cursor: pointer; border: 0; background: none; padding: 0; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
svg { width: 22px; height: 22px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.launcher {
  display: grid; place-items: center; position: relative; width: 56px; height: 56px; border-radius: 28px;
  background: var(--accent); color: var(--on-accent); box-shadow: 0 4px 16px rgb(0 0 0 / 0.22); border: 1px solid transparent;
}
.launcher.unread::before {
  content: ''; position: absolute; inset-block-start: 1px; inset-inline-end: 1px; width: 14px; height: 14px; border-radius: 7px;
  background: var(--failed); border: 2px solid var(--surface);
}
.panel {
  position: absolute; inset-block-end: 68px; inset-inline-end: 0; display: flex; flex-direction: column; overflow: hidden;
  width: 380px; height: min(620px, 100dvh - 108px); background: var(--surface); color: var(--text);
  border: 1px solid var(--line); border-radius: 12px; box-shadow: 0 12px 40px rgb(0 0 0 / 0.2);
}
@media (prefers-reduced-motion: no-preference) {
  .panel { animation: appear 120ms ease-out; }
  .dots i { animation: wait 1.2s infinite; }
  .dots i:nth-child(2) { animation-delay: 0.15s; }
  .dots i:nth-child(3) { animation-delay: 0.3s; }
}
@keyframes appear { from { opacity: 0; transform: translateY(6px); } }
@keyframes wait { 30% { opacity: 0.25; } }
header {
  display: flex; align-items: center; justify-content: space-between; gap: 8px; padding: 8px 8px 8px 16px;
  border-block-end: 1px solid var(--line);
}
header:dir(rtl) { padding: 8px 16px 8px 8px; }
h2 { margin: 0; font-size: 15px; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.icon { display: grid; place-items: center; flex: none; width: 44px; height: 44px; border-radius: 8px; color: var(--muted); }
.icon:hover { background: var(--raised); color: var(--text); }
.log {
  flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 16px; display: flex; flex-direction: column; gap: 10px;
  outline-offset: -2px;
}
.earlier { align-self: center; padding: 6px 12px; border-radius: 6px; color: var(--muted); border: 1px solid var(--line); }
.entry { max-width: 85%; align-self: flex-start; min-width: 0; }
.entry.visitor { align-self: flex-end; }
.text { padding: 8px 12px; border-radius: 10px; background: var(--raised); overflow-wrap: anywhere; }
.visitor .text { background: var(--accent); color: var(--on-accent); white-space: pre-wrap; }
.note { margin-block-start: 3px; font-size: 12px; color: var(--muted); }
.visitor .note { text-align: end; }
.note.failed { color: var(--failed); }
.note button, .status button { text-decoration: underline; padding: 2px 4px; font-weight: 600; }
.text :is(p, h3, h4, ul, ol, pre, blockquote, hr, .scroll) { margin: 0 0 8px; }
.text :last-child { margin-block-end: 0; }
.text :is(h3, h4) { font-size: inherit; font-weight: 650; }
.text :is(ul, ol) { padding-inline-start: 20px; }
.text :is(ul, ol) :is(ul, ol) { margin: 0; }
.text :is(th, td) { overflow-wrap: normal; }
.text a { color: inherit; text-decoration: underline; text-underline-offset: 2px; }
.text code { font: 12.5px ui-monospace, monospace; background: light-dark(rgb(0 0 0 / 0.06), rgb(255 255 255 / 0.1)); padding: 1px 4px; border-radius: 4px; }
.text pre { overflow-x: auto; padding: 8px 10px; border-radius: 6px; background: light-dark(rgb(0 0 0 / 0.06), rgb(255 255 255 / 0.08)); }
.text pre code { background: none; padding: 0; }
.text blockquote { padding-inline-start: 10px; border-inline-start: 3px solid var(--line); color: var(--muted); }
.text hr { border: 0; border-block-start: 1px solid var(--line); }
.scroll { overflow-x: auto; }
.text table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.text :is(th, td) { border: 1px solid var(--line); padding: 3px 8px; text-align: start; }
.dots { align-self: flex-start; display: flex; gap: 4px; padding: 12px; border-radius: 10px; background: var(--raised); }
.dots i { width: 6px; height: 6px; border-radius: 3px; background: var(--muted); }
.status { padding: 6px 16px; font-size: 13px; color: var(--muted); border-block-start: 1px solid var(--line); }
.status.failed { color: var(--failed); }
.status:empty { display: none; }
form { display: flex; align-items: flex-end; gap: 6px; padding: 10px; border-block-start: 1px solid var(--line); }
textarea {
  flex: 1; min-width: 0; resize: none; field-sizing: content; min-height: 44px; max-height: 140px; padding: 10px 12px; border-radius: 8px;
  outline-offset: 0; border: 1px solid light-dark(oklch(0.62 0.01 255), oklch(0.58 0.014 255)); background: var(--surface); color: var(--text);
}
textarea::placeholder { color: var(--muted); opacity: 1; }
.send { background: var(--accent); color: var(--on-accent); }
.send:hover { background: var(--accent); color: var(--on-accent); }
:host(:dir(rtl)) .send svg { transform: scaleX(-1); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 480px), (max-height: 420px) {
  .panel { position: fixed; inset: 0; width: auto; height: 100dvh; border: 0; border-radius: 0; }
  .launcher[aria-expanded='true'] { display: none; }
  textarea { font-size: 16px; }
}
@media (forced-colors: active) {
  .launcher, .icon, .text { border: 1px solid; }
}
@media print { :host { display: none !important; } }
`;
