export const style = `
:root{color-scheme:light dark;--page:#fff;--text:#1c1c1f;--quiet:#63636b;--line:#dcdce0;--soft:#f4f4f5;--accent:#2350c8;--on:#fff;--own:#e3ebff;--good:#166b36;--bad:#b3261e;--wait:#8a5a00}
@media(prefers-color-scheme:dark){:root{--page:#141416;--text:#ececf0;--quiet:#a0a0aa;--line:#34343a;--soft:#1e1e22;--accent:#8fb0ff;--on:#101318;--own:#22304f;--good:#6fd08f;--bad:#ff938a;--wait:#e9b44c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.45 ui-sans-serif,system-ui,sans-serif}
header{background:var(--soft);border-bottom:1px solid var(--line);padding:10px 16px;color:var(--quiet);font-size:13px}
header b{color:var(--wait)}
main{max-width:760px;margin:0 auto;padding:24px 16px 48px}
main.narrow{max-width:440px}
a{color:var(--accent)}
h1{font-size:20px;margin:0 0 16px}
h2{font-size:16px;margin:32px 0 8px}
p,dd,li,h1{overflow-wrap:anywhere}
td{overflow-wrap:break-word;max-width:24em}
.quiet{color:var(--quiet);font-size:13px}
.amount{font-size:32px;font-variant-numeric:tabular-nums;margin:4px 0 20px;overflow-wrap:anywhere}
.good{color:var(--good)}.bad{color:var(--bad)}.wait{color:var(--wait)}
dl{display:grid;grid-template-columns:auto 1fr;gap:6px 16px;margin:0 0 24px}
dt{color:var(--quiet)}dd{margin:0}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:8px 12px 8px 0;border-bottom:1px solid var(--line)}
th{color:var(--quiet);font-weight:400;font-size:13px}
button,input,textarea{font:inherit;min-height:44px;border-radius:6px;border:1px solid var(--line);padding:8px 16px;background:var(--page);color:var(--text)}
button{cursor:pointer;font-weight:600}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on)}
:is(button,input,textarea,a):focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.row{display:flex;flex-wrap:wrap;gap:8px;align-items:flex-end}
.row>*{flex:1}
.row>textarea{flex:1 1 100%;min-height:76px;resize:vertical}
label{font-size:13px;color:var(--quiet)}label input{display:block;width:100%;color:var(--text);font-size:16px}
textarea{font-size:16px}
ol{list-style:none;margin:0 0 24px;padding:0;display:flex;flex-direction:column;gap:8px}
td:last-child{white-space:nowrap}
ol li{max-width:85%;padding:8px 12px;border-radius:6px;background:var(--soft);white-space:pre-wrap}
ol li.inbound{align-self:flex-end;background:var(--own)}
ol li form{display:inline-block;margin:8px 8px 0 0}
iframe{width:100%;height:420px;border:1px solid var(--line);border-radius:6px;background:#fff}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:12px;border-radius:6px;font:13px/1.5 ui-monospace,monospace}
@media(max-width:560px){th{display:none}tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}td{display:block;border:0;padding:1px 0;max-width:none;overflow-wrap:anywhere}}
`;
