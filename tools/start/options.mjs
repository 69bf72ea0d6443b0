import { parseArgs } from 'node:util';
import { resolve } from 'node:path';
import { Problem } from './output.mjs';
import { root, stateDir } from './paths.mjs';

export const help = `Usage: npm start [-- options]

Starts all services of Parley on this machine, with PostgreSQL and Redis.

  --port N     port of the gateway (default: 4000); the services use the next seven ports, their internal ports are
               100 higher
  --fresh      delete the database, queues, key and secrets of earlier runs first, after a question
  --yes        do not ask (--fresh); required without a terminal
  --no-copy    do not keep a copy of a database of an earlier version before it is migrated
  --state DIR  folder for data that is kept between runs (default: .parley)
  --help       show this help

Environment variables, also in the file .env of this folder:
  DATABASE_URL, REDIS_URL   use these servers instead of starting PostgreSQL and Redis
  Others, such as OPENAI_API_KEY, are passed to the services that use them (docs/configuration.md).`;

/** @param {string[]} args */
export function parseOptions(args) {
  const { values } = parse(args);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_000)
    throw new Problem(`--port must be a number from 1 to 65000, not "${values.port}".`);
  const { fresh, yes, help } = values;
  return {
    port,
    fresh,
    yes,
    help,
    copy: !values['no-copy'],
    stateDir: resolve(root, values.state),
  };
}

function parse(args) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string', default: '4000' },
        state: { type: 'string', default: stateDir },
        fresh: { type: 'boolean', default: false },
        yes: { type: 'boolean', default: false },
        'no-copy': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new Problem(`${error.message.split('. ')[0]}. See the options with: npm start -- --help`);
  }
}
