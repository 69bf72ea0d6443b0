import { type ChildProcess } from 'node:child_process';
import { spawnGuarded, stopProcess } from '@parley/embedded';

export interface Child {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a script whose first line of output is the port it listens on. */
export async function startChild(file: string, args: string[] = []): Promise<Child> {
  const child: ChildProcess = spawnGuarded(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('exit', () => reject(new Error(`${file} exited before it listened`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid!,
    stop: () => stopProcess(child, 'SIGTERM', 2_000),
  };
}
