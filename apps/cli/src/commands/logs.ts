import { runScript } from '../checkout';

export interface LogsOptions {
  follow?: boolean;
  since?: string;
  state?: string;
  json?: boolean;
}

/** `parley logs [service]`: prints the log files of `npm start`. */
export async function runLogs(service: string | undefined, options: LogsOptions): Promise<void> {
  await runScript('logs.mjs', options, service === undefined ? [] : [service]);
}
