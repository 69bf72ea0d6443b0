import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type ProgramResult, runInProcess } from './command-line';

type Command = Parameters<typeof runInProcess>[1] & { args: string[] };

export interface CommandServer {
  /** The words of a shell that run `parley` here; arguments follow. */
  words: string;
  close(): void;
}

/**
 * Runs the commands of shell scripts in the process of the test. They have the variables and the
 * folder of their script.
 */
export async function startCommandServer(): Promise<CommandServer> {
  const server = createServer({ allowHalfOpen: true }, (socket) => void answer(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const program = join(__dirname, '../send-command.cjs');
  return {
    words: `"${process.execPath}" "${program}" ${port}`,
    close: () => server.close(),
  };
}

async function answer(socket: Socket): Promise<void> {
  socket.on('error', () => {}); // the script may have been killed
  const { args, ...options } = JSON.parse(await text(socket)) as Command;
  const failed = (error: Error): ProgramResult => ({ code: 1, stdout: '', stderr: error.stack! });
  socket.end(JSON.stringify(await runInProcess(args, options).catch(failed)));
}
