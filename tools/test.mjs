// npm test: installs what is missing, then types, style, boundaries, unit and end-to-end tests on real servers.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { runMain } from './start/output.mjs';

await runMain(async () => {
  checkHostNode();
  await ensureInstalled();
  return runWithPinnedNode(fileURLToPath(new URL('./test/main.mjs', import.meta.url)), process.argv.slice(2));
});
