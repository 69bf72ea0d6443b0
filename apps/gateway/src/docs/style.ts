export const style = `
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--link:#2563eb}
@media(prefers-color-scheme:dark){:root{--link:#7aa7ff}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 system-ui,sans-serif;display:flex}
nav{position:sticky;top:0;height:100vh;overflow:auto;flex:0 0 300px;padding:16px;border-right:1px solid var(--line);font-size:13px}
nav ul{list-style:none;margin:0;padding:0}
nav a{display:block;padding:2px 0;color:inherit;text-decoration:none;overflow-wrap:anywhere}
nav a:hover{color:var(--link)}
main{flex:1;min-width:0;max-width:980px;padding:16px 32px}
a{color:var(--link)}
article,h2{scroll-margin-top:8px}
article{border-top:1px solid var(--line);padding:8px 0 16px}
h1 small,h4 small,.quiet{font-weight:400;opacity:.7}
b.get,b.post,b.patch,b.delete{font:700 11px ui-monospace,monospace;text-transform:uppercase}
b.get{color:#16a34a}b.post{color:#2563eb}b.patch{color:#d97706}b.delete{color:#dc2626}
b.s2{color:#16a34a}b.s4{color:#d97706}b.s5{color:#dc2626}
table{border-collapse:collapse;width:100%;margin:8px 0;font-size:13px}
th,td{text-align:left;vertical-align:top;padding:4px 8px;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
pre{background:var(--soft);padding:10px;overflow:auto;font-size:12px;border-radius:6px}
code{font:13px ui-monospace,monospace}
summary{cursor:pointer;padding:3px 0}
nav>input,nav>label{position:absolute;opacity:0}
@media(max-width:800px){
body{display:block}
nav{position:static;height:auto;border:0;padding:16px 16px 0}
nav h2{display:inline-block;margin:0 12px 0 0}
nav>label{position:static;opacity:1;color:var(--link);cursor:pointer}
nav>input:focus-visible+label{outline:2px solid}
nav>input:not(:checked)~div{display:none}
nav a{padding:8px 0}
main{padding:16px}
tr:first-child:has(th){display:none}
tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}
td{display:block;border:0;padding:1px 0}
}
`;
