import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { Problem } from './output.mjs';
import { root, stateDir } from './paths.mjs';

export const help = `npm start [-- options]   starts all of Parley on this machine

  --port N     port of the gateway (default 4000); the services use the next four, health checks those plus 100
  --fresh      begin anew: removes the database, the queues, the key and the secrets of earlier runs
  --state DIR  where data is kept between runs (default .parley)
  --help       this text

Environment: DATABASE_URL and REDIS_URL name servers to use instead of starting some; every other variable
(OPENAI_API_KEY, MESSAGING_WEBHOOK_SECRET, …) is passed on to the services that need it.`;

/** @param {string[]} args */
export function parseOptions(args) {
  const { values } = parse(args);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_000) throw new Problem(`--port ${values.port} is not a port.`);
  return { port, fresh: values.fresh, help: values.help, stateDir: resolve(root, values.state) };
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string', default: '4000' },
        state: { type: 'string', default: stateDir },
        fresh: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new Problem(`${error.message.split('. ')[0]}. "npm start -- --help" shows the options.`);
  }
}
