import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Data that `npm start` keeps between runs. Ignored by git. */
export const stateDir = join(root, '.parley');
