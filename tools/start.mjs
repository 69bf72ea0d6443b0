// npm start: installs the packages and starts the stack. Only Node's built-in modules are
// used before npm ci.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refuseIfRunning } from './start/control.mjs';
import { readDotEnv } from './start/dot-env.mjs';
import { ensureInstalled } from './start/install.mjs';
import { checkHostNode, runWithPinnedNode } from './start/node.mjs';
import { help, parseOptions } from './start/options.mjs';
import { runMain, print } from './start/output.mjs';
import { root } from './start/paths.mjs';
import { checkPorts, refuseUnusablePorts } from './start/ports.mjs';
import { announceRedis } from './start/redis.mjs';
import { plannedServices } from './start/services.mjs';

await runMain(async () => {
  const args = process.argv.slice(2);
  const options = parseOptions(args);
  if (options.help) return print(help);
  checkHostNode();
  const settings = readDotEnv(join(root, '.env'));
  if (settings) print(settings);
  const services = plannedServices(options.port);
  refuseUnusablePorts(services, options.port);
  await announceRedis();
  await ensureInstalled(async () => {
    // The services of a run that was killed are stopped later, so ports are checked here only when
    // packages are installed.
    await refuseIfRunning(options.stateDir);
    await checkPorts(services, options.port);
  });
  return runWithPinnedNode(fileURLToPath(new URL('./start/main.mjs', import.meta.url)), args);
});
