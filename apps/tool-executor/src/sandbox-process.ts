import { Socket } from 'node:net';
import { compileHandler } from './sandbox/compile-handler';
import { createFrameReader, encodeFrame } from './sandbox/frames';
import type { FromSandbox, ToSandbox } from './sandbox/protocol';
import { createRunner } from './sandbox/runner';
import { seal } from './sandbox/seal';

/** Descriptor of the pipe to the service, the only connection of the process. */
const serviceDescriptor = 3;

/**
 * A sandbox process loads the engine, is sealed, then runs or compiles one handler after the other.
 */
async function main(): Promise<void> {
  const service = new Socket({ fd: serviceDescriptor, readable: true, writable: true });
  const send = ({ head, bytes }: { head: FromSandbox; bytes?: Uint8Array }) =>
    service.write(encodeFrame({ head, bytes }));
  const runner = await createRunner(send);
  await warmUp(runner.engine);
  const read = createFrameReader<ToSandbox>(({ head, bytes }) => {
    switch (head.type) {
      case 'seal':
        seal(head.uid);
        return void send({ head: { type: 'ready' } });
      case 'run':
        return void runner.start(head);
      case 'reply':
        return runner.reply(head.id, head.value, bytes);
      case 'compile':
        return void compileHandler(runner.engine, head.code).then((compiled) =>
          send({ head: { type: 'compiled', ...compiled } }),
        );
    }
  });
  service.on('data', read);
  // The service has ended, or has closed the pipe.
  service.on('close', () => process.exit(0));
  service.on('error', () => process.exit(0));
  send({ head: { type: 'loaded' } });
}

/** Runs a few handlers, because the first runs of an engine are slower. */
async function warmUp(engine: Awaited<ReturnType<typeof createRunner>>['engine']): Promise<void> {
  for (let round = 0; round < 5; round++) {
    engine.start('return args.a.map((n) => n + 1)', '{"a":[1,2,3]}', '{}', Infinity);
    await engine.reset();
  }
}

void main();
