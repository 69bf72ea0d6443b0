// The supervisor: runs on the pinned Node with everything installed (tools/start.mjs sees to both).
import { build } from '../build.mjs';
import { printBanner } from './banner.mjs';
import { listenForRequests } from './control.mjs';
import { openPostgres, openRedis } from './databases.mjs';
import { developmentKey, runCli, seedDemo } from './demo.mjs';
import { loadEmbedded } from './load-typescript.mjs';
import { parseOptions } from './options.mjs';
import { complain, Problem, say, step } from './output.mjs';
import { checkPorts } from './ports.mjs';
import { fromEnvironment, loadSecrets } from './secrets.mjs';
import { environmentOf, plannedServices, providerSettings } from './services.mjs';
import { createShutdown } from './shutdown.mjs';
import { claimState, removeStack, removeState, writeStack } from './state.mjs';
import { createSupervisor } from './supervisor.mjs';

const startedAt = Date.now();
const shutdown = createShutdown();

async function main() {
  const { fresh, port: gatewayPort, stateDir } = parseOptions(process.argv.slice(2));
  if (fresh) refuseForeign(['DATABASE_URL', 'REDIS_URL']);
  const gatewayUrl = `http://localhost:${gatewayPort}`;
  const embedded = await loadEmbedded();
  await claimState(stateDir, embedded);

  let supervisor;
  const control = await listenForRequests(stateDir, (request, whenClosed) => handle(request, whenClosed));
  shutdown.add('the control socket', async () => control.close());
  if (fresh) removeState(stateDir, embedded);
  const services = plannedServices(gatewayPort);
  await checkPorts(services, gatewayPort);
  const secrets = loadSecrets(stateDir);

  const place = { embedded, stateDir, gatewayPort };
  const [postgres, redis] = await allOrNothing([
    keeping('PostgreSQL', openPostgres(place)),
    keeping('Redis', openRedis(place)),
    step('Building', () => build()),
  ]);
  shutdown.checkpoint();
  const shared = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...secrets };
  const environment = (service) => environmentOf(service, shared, gatewayPort);
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
    env: { ...providerSettings(), ...shared },
    key,
  });
  supervisor = createSupervisor({
    services,
    environmentOf: environment,
    embedded,
    onChange: () => writeStack(stateDir, describe()),
  });
  shutdown.add('the services', async () => {
    await supervisor.stopAll();
    removeStack(stateDir);
  });
  shutdown.onForce(supervisor.killAll);
  const seeding = seedDemo(stateDir, cliEnvironment);
  await step(`Starting ${services.map(({ name }) => name).join(', ')}`, () =>
    allOrNothing([seeding, supervisor.startAll()]),
  );
  shutdown.checkpoint();
  key = (await seeding) ?? (await developmentKey(stateDir, cliEnvironment, cliEnvironment.DATA_URL));
  writeStack(stateDir, describe());
  printBanner({ gatewayPort, key, startedAt });

  /** `status`, and `release`: another process runs this service for as long as it stays connected (nx serve). */
  async function handle({ command, service: name }, whenClosed) {
    if (command === 'status') return { pid: process.pid, gatewayUrl };
    if (command !== 'release') throw new Problem(`Unknown command ${command}`);
    if (!supervisor?.has(name)) throw new Problem(`The running stack has no service ${name}`);
    say(`${name} is now served in watch mode by another process.`);
    await supervisor.stop(name);
    whenClosed(() => {
      if (shutdown.isStopping()) return;
      say(`${name} is back in this stack.`);
      supervisor.start(name).catch((error) => complain(error.message));
    });
    return { env: environment(services.find((service) => service.name === name)) };
  }
}

/** `--fresh` removes what this folder holds; another server's data, encrypted under secrets that are kept here, is not that. */
function refuseForeign(names) {
  const foreign = names.filter((name) => fromEnvironment(name));
  if (foreign.length === 0) return;
  const them = foreign.join(' and ');
  throw new Problem(
    `--fresh empties this folder's own servers, but ${them} names another. Unset it, or empty that one.`,
  );
}

/** Has a server stopped at the end, also when the end comes while it still starts. */
function keeping(name, starting) {
  shutdown.add(name, async () => (await starting.catch(() => null))?.stop());
  return starting;
}

/** Waits for all, so that nothing is still starting when the first failure is handled. */
async function allOrNothing(works) {
  const results = await Promise.allSettled(works);
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
  return results.map(({ value }) => value);
}

main().catch(async (error) => {
  if (shutdown.isStopping()) return;
  complain(error instanceof Problem ? error.message : error.stack);
  await shutdown.stop(1);
});
