// npm start: installs the packages and starts the stack. Only Node's built-in modules are used before npm ci.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { help, parseOptions } from './start/options.mjs';
import { runMain, print } from './start/output.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  if (parseOptions(args).help) return print(help);
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(fileURLToPath(new URL('./start/main.mjs', import.meta.url)), args);
});
