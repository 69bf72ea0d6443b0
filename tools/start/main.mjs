// The supervisor of the stack. tools/start.mjs installs the packages and runs this file with
// the pinned Node.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from '../build.mjs';
import { printBanner } from './banner.mjs';
import { listenForRequests } from './control.mjs';
import { openPostgres, openRedis } from './databases.mjs';
import { developmentKey, firstAdminLink, runCli, seedDemo } from './demo.mjs';
import { demoPageLink } from './demo-page.mjs';
import { loadEmbedded } from './load-typescript.mjs';
import { parseOptions } from './options.mjs';
import { printError, Problem, print, step } from './output.mjs';
import { checkPorts } from './ports.mjs';
import { fromEnvironment, loadSecrets } from './secrets.mjs';
import { environmentOf, plannedServices, providerSettings, standInsUrl } from './services.mjs';
import { createShutdown } from './shutdown.mjs';
import { claimState, removeStack, writeStack } from './state.mjs';
import { confirmDeletion, dataParts, deleteParts, requireOwnFolder } from './state-parts.mjs';
import { createSupervisor } from './supervisor.mjs';

const startedAt = Date.now();
const shutdown = createShutdown();

async function main() {
  const { fresh, yes, copy, port: gatewayPort, stateDir } = parseOptions(process.argv.slice(2));
  if (fresh) refuseExternal(['DATABASE_URL', 'REDIS_URL']);
  const gatewayUrl = `http://localhost:${gatewayPort}`;
  const embedded = await loadEmbedded();
  await claimState(stateDir, embedded);

  let supervisor;
  const control = await listenForRequests(stateDir, (request, whenClosed) =>
    handle(request, whenClosed),
  );
  shutdown.add('the control socket', async () => control.close());
  const services = plannedServices(gatewayPort);
  await checkPorts(services, gatewayPort);
  if (fresh) await deleteData(stateDir, yes);
  const secrets = loadSecrets(stateDir);

  const location = { embedded, stateDir, gatewayPort, copy };
  const [postgres, redis] = await waitForAll([
    stopAtShutdown('PostgreSQL', openPostgres(location)),
    stopAtShutdown('Redis', openRedis(location)),
    step('Building the services', () => build()),
  ]);
  shutdown.checkpoint();
  const shared = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...secrets };
  const ownFolder = { STAND_INS_FOLDER: join(stateDir, 'stand-ins') };
  const environment = (service) => ({
    ...environmentOf(service, shared, gatewayPort),
    ...(service.name === 'stand-ins' && ownFolder),
  });
  const cliEnvironment = environment({ name: 'cli', port: 0, internalPort: 0, trusted: true });
  await step('Migrating the database', () => runCli(['migrate'], cliEnvironment));

  shutdown.checkpoint();

  let key = null;
  const describe = () => ({
    pid: process.pid,
    gatewayUrl,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    services: supervisor.describe(),
    env: { ...providerSettings(gatewayPort), ...shared },
    key,
  });
  supervisor = createSupervisor({
    services,
    environmentOf: environment,
    embedded,
    stateDir,
    onChange: () => writeStack(stateDir, describe()),
  });
  shutdown.add('the services', async () => {
    await supervisor.stopAll();
    removeStack(stateDir);
  });
  shutdown.onForce(supervisor.killAll);
  const seeding = seedDemo(stateDir, cliEnvironment);
  await step(`Starting ${services.map(({ name }) => name).join(', ')}`, () =>
    waitForAll([seeding, supervisor.startAll()]),
  );
  shutdown.checkpoint();
  key =
    (await seeding) ?? (await developmentKey(stateDir, cliEnvironment, cliEnvironment.DATA_URL));
  writeStack(stateDir, describe());
  const adminLink = await firstAdminLink({ ...cliEnvironment, PUBLIC_URL: gatewayUrl });
  const demoPage = await demoPageLink(gatewayUrl, key, cliEnvironment.PUBLIC_URL).catch(() => null);
  // Nothing waits for the console: until it is built, its page says so.
  buildConsole();
  printBanner({
    gatewayPort,
    key,
    demoPage,
    adminLink,
    startedAt,
    standInsUrl: standInsUrl(gatewayPort),
  });

  /**
   * Handles the requests `status` and `release`. `release` stops a service here while another
   * process runs it (nx serve).
   */
  async function handle({ command, service: name }, whenClosed) {
    if (command === 'status') return { pid: process.pid, gatewayUrl };
    if (command !== 'release') throw new Problem(`Unknown command ${command}`);
    if (!supervisor?.has(name)) throw new Problem(`The running stack has no service ${name}.`);
    print(`${name} now runs in watch mode in another process.`);
    await supervisor.stop(name);
    whenClosed(() => {
      if (shutdown.isStopping()) return;
      print(`Restarting ${name} in this stack.`);
      supervisor.start(name).then(
        () => print(`${name} is ready again.`),
        (error) => printError(error.message),
      );
    });
    return { env: environment(services.find((service) => service.name === name)) };
  }
}

/**
 * Builds the console in a process of its own: Vite sets NODE_ENV, which the services get
 * from this process.
 */
function buildConsole() {
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'build-console.mjs')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  shutdown.add('the build of the console', async () => void child.kill());
}

async function deleteData(stateDir, yes) {
  const parts = dataParts(stateDir);
  if (parts.length === 0) return;
  requireOwnFolder(stateDir);
  await confirmDeletion('--fresh deletes the data of earlier runs:', parts, yes);
  deleteParts(stateDir, parts);
}

/**
 * `--fresh` also deletes the stored secrets, without which the encrypted data of an
 * external server is lost.
 */
function refuseExternal(names) {
  const external = names.filter((name) => fromEnvironment(name));
  if (external.length === 0) return;
  throw new Problem(
    `--fresh only deletes the data in .parley, but ${external.join(' and ')} names an external server. ` +
      'Unset it, or delete the data of that server yourself and start without --fresh.',
  );
}

/** Stops a server at shutdown, even when the shutdown begins while the server is starting. */
function stopAtShutdown(name, starting) {
  shutdown.add(name, async () => (await starting.catch(() => null))?.stop());
  return starting;
}

/**
 * Waits for all promises, then throws the first failure, so that nothing is still starting when the
 * failure is handled.
 */
async function waitForAll(promises) {
  const results = await Promise.allSettled(promises);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return results.map(({ value }) => value);
}

main().catch(async (error) => {
  if (shutdown.isStopping()) return;
  printError(error instanceof Problem ? error.message : error.stack);
  await shutdown.stop(1);
});
