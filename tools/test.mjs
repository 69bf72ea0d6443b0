// npm test: installs missing packages, then checks types, format, lint and boundaries,
// and runs all tests.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { runMain } from './start/output.mjs';

await runMain(async () => {
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(
    fileURLToPath(new URL('./test/main.mjs', import.meta.url)),
    process.argv.slice(2),
  );
});
