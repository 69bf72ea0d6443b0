// node tools/serve.mjs <app> [--state DIR] (npx nx serve <app>): runs one service of the running
// stack in watch mode.
import { existsSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { parseArgs } from 'node:util';
import { buildableApps, buildOptions, childBuildOptions } from './build.mjs';
import { askSupervisor } from './start/control.mjs';
import { loadEmbedded } from './start/load-typescript.mjs';
import { printLog } from './start/log-lines.mjs';
import { printError, Problem, runMain, print, printWarning } from './start/output.mjs';
import { stateDir as defaultStateDir } from './start/paths.mjs';
import { ensureGenerated } from './start/prisma.mjs';
import { bundleOf } from './start/supervisor.mjs';

const stopDeadlineMs = 8_000;

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { state: { type: 'string', default: defaultStateDir } },
  });
  const [app = ''] = positionals;
  const stateDir = resolvePath(values.state);
  if (!buildableApps().includes(app))
    throw new Problem(`Unknown app: ${app}. Available: ${buildableApps().join(', ')}.`);
  await ensureGenerated();
  const stack =
    existsSync(stateDir) && (await askSupervisor(stateDir, { command: 'release', service: app }));
  if (!stack)
    throw new Problem(
      'No stack is running in this folder. Run npm start in another terminal first.',
    );
  if (stack.answer.error) throw new Problem(stack.answer.error);

  const service = await createRestarter(app, stack.answer.env);
  const esbuild = await import('esbuild');
  const plugins = [reporter(esbuild, service)];
  const watching = await Promise.all(
    [buildOptions([app]), childBuildOptions([app])]
      .filter(({ entryPoints }) => Object.keys(entryPoints).length > 0)
      .map((options) => esbuild.context({ ...options, plugins })),
  );
  await Promise.all(watching.map((context) => context.watch()));

  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, resolve);
    stack.connection.once('close', () => {
      printWarning('The stack has stopped.');
      resolve();
    });
  });
  await Promise.all(watching.map((context) => context.dispose()));
  await service.stop();
  stack.connection.end(); // the supervisor then restarts the service
}

/** Runs the process and restarts it. Restarts are queued, so that fast builds do not overlap. */
async function createRestarter(app, env) {
  const { spawnService, stopProcess } = await loadEmbedded();
  let child;
  let queue = Promise.resolve();
  const stop = async () => child && stopProcess(child, 'SIGTERM', stopDeadlineMs);
  const restart = async () => {
    await stop();
    const started = spawnService(bundleOf(app), { env });
    child = started;
    printLog(started, app);
    started.once(
      'exit',
      (code) =>
        code &&
        printWarning(`${app} exited with code ${code}. It is restarted after the next change.`),
    );
  };
  return {
    restart: () => (queue = queue.then(restart)),
    stop: () => (queue = queue.then(stop)),
  };
}

function reporter(esbuild, service) {
  return {
    name: 'reporter',
    setup(build) {
      build.onEnd(async ({ errors }) => {
        if (errors.length === 0) {
          print('Build succeeded. Restarting.');
          return void service.restart();
        }
        const messages = await esbuild.formatMessages(errors, { kind: 'error', color: false });
        printError(
          `The build failed. The last successful build keeps running.\n${messages.join('').trim()}`,
        );
      });
    },
  };
}

await runMain(main);
