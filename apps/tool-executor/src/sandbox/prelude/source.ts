import { installBinary } from './binary';
import { installConsole } from './console';
import { installEvents } from './events';
import { installFetch } from './fetch';
import { createHost } from './host';
import { createParley } from './parley';
import { installStructuredClone } from './structured-clone';
import { installTimers } from './timers';
import { installUrl } from './url';

const installers = [
  installConsole,
  installEvents,
  installTimers,
  installBinary,
  installUrl,
  installFetch,
  installStructuredClone,
];

/**
 * JavaScript text for the engine: `(op) => { run, deliver }`. Calling it installs every global.
 * `run` starts a handler, `deliver` reports a due timer or an answer.
 */
export const preludeSource = `((op) => {
  const { host, run, deliver } = (${createHost})(op);
  ${installers.map((install) => `(${install})(host);`).join('\n')}
  const parley = (${createParley})(host);
  return { run: (...all) => run(parley, ...all), deliver };
})`;
