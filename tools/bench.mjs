// node tools/bench.mjs <name>: runs the benchmark apps/bench/src/<name> with PostgreSQL and Redis,
// and prints its results.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { runMain } from './start/output.mjs';

await runMain(async () => {
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(
    fileURLToPath(new URL('./bench/main.mjs', import.meta.url)),
    process.argv.slice(2),
  );
});
