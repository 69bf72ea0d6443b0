// node tools/bench.mjs <name>: runs apps/bench/src/<name> against real servers and prints its table.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { runMain } from './start/output.mjs';

await runMain(async () => {
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(fileURLToPath(new URL('./bench/main.mjs', import.meta.url)), process.argv.slice(2));
});
