// npm start: everything from a fresh clone to a running stack. Until the packages are there, only Node's built-ins.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { help, parseOptions } from './start/options.mjs';
import { runMain, say } from './start/output.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  if (parseOptions(args).help) return say(help);
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(fileURLToPath(new URL('./start/main.mjs', import.meta.url)), args);
});
