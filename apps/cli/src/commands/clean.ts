import { runScript } from '../checkout';

export interface CleanOptions {
  yes?: boolean;
  state?: string;
  json?: boolean;
}

/** `parley clean`: deletes what `npm start` made on this machine, after a confirmation. */
export const runClean = (options: CleanOptions): Promise<void> => runScript('clean.mjs', options);
