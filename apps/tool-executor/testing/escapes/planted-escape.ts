import { execSync, spawn } from 'node:child_process';
import { lookup } from 'node:dns';
import { createSocket } from 'node:dgram';
import { openSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { open as openInspector } from 'node:inspector';
import { Socket, connect, createServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { createFrameReader, encodeFrame } from '../../src/sandbox/frames';
import type { FromSandbox, ToSandbox } from '../../src/sandbox/protocol';
import { seal } from '../../src/sandbox/seal';

/*
 * A sandbox process whose code has escaped from the engine. It is started and sealed like any
 * other, and then makes the attempt that the "handler" names in Node instead of in the engine. An
 * attempt returns what it reached, or throws.
 */

const service = new Socket({ fd: 3, readable: true, writable: true });
const send = (head: FromSandbox) => service.write(encodeFrame({ head }));
const settled = (start: (done: (value: unknown) => void, fail: (error: unknown) => void) => void) =>
  new Promise(start);

const attempts: Record<string, (argument: string) => unknown> = {
  'read a file': () => readFileSync('/etc/passwd', 'utf8').slice(0, 10),
  'read the environment of the service': () => readFileSync(`/proc/${process.ppid}/environ`).length,
  'read its own bundle': () => readFileSync(__filename).length,
  'list a directory': () => readdirSync('/').length,
  'open a device': () => openSync('/dev/null', 'r'),
  'write a file': (path) => writeFileSync(path, 'planted') ?? 'written',
  'run a program': () => execSync('id', { encoding: 'utf8' }),
  'spawn a program': () => settled((done, fail) => spawn('id').on('error', fail).on('exit', done)),
  'start a thread': () =>
    settled((done, fail) => new Worker('0', { eval: true }).on('error', fail).on('exit', done)),
  'connect to a port': (port) =>
    settled((done, fail) =>
      connect(Number(port), '127.0.0.1')
        .on('error', fail)
        .on('connect', () => done('connected')),
    ),
  'make an HTTP request': (port) =>
    settled((done, fail) =>
      get(`http://127.0.0.1:${port}/`, (response) => done(response.statusCode)).on('error', fail),
    ),
  'fetch through the global': async (port) => (await fetch(`http://127.0.0.1:${port}/`)).status,
  'listen on a port': () =>
    settled((done, fail) =>
      createServer()
        .on('error', fail)
        .listen(0, '127.0.0.1', () => done('listening')),
    ),
  'listen on a path': (path) =>
    settled((done, fail) =>
      createServer()
        .on('error', fail)
        .listen(`${path}.sock`, () => done('listening')),
    ),
  'send a datagram': () =>
    settled((done, fail) => {
      const socket = createSocket('udp4').on('error', fail);
      socket.send('x', 9, '127.0.0.1', (error) => (error ? fail(error) : done('sent')));
    }),
  'ask for a name': () =>
    settled((done, fail) =>
      lookup('localhost', (error, found) => (error ? fail(error) : done(found))),
    ),
  'read the environment': () =>
    process.env.PARLEY_PLANTED_SECRET ?? Promise.reject(new Error('not there')),
  'signal the service': () => process.kill(process.ppid, 0),
  'become root again': () => process.setuid!(0) ?? `root, ${readFileSync('/etc/shadow').length}`,
  'make code from a string': () => new Function('return 1')(),
  'turn that off': () =>
    setFlagsFromString('--no-disallow-code-generation-from-strings') ?? new Function('return 1')(),
  'open the inspector': () => {
    openInspector(0);
    return 'open';
  },
  'load an addon': (path) => process.dlopen({ exports: {} }, path) ?? 'loaded',
  'use an internal binding': () =>
    Object.keys((process as never as { binding(name: string): object }).binding('fs')).length,
  'write a report': (path) => process.report!.writeReport(`${path}.json`),
  'take much memory': () => {
    const taken: Buffer[] = [];
    for (let megabytes = 0; megabytes < 1024; megabytes += 16)
      taken.push(Buffer.alloc(16 * 1024 * 1024, 1));
    return `${taken.length * 16} MB`;
  },

  'answer with garbage': () => service.write(Buffer.from('garbage that is not a frame')),
  'announce a huge frame': () => service.write(Buffer.from([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0])),
  'answer with a wrong shape': () =>
    send({ type: 'done', outcome: { kind: 'result', result: 5 } } as never),
  'answer with text that is not JSON': () =>
    send({ type: 'done', outcome: { kind: 'result', result: '{', logs: [] } }),
  'answer too much': () =>
    send({
      type: 'done',

      outcome: { kind: 'result', result: JSON.stringify('x'.repeat(2e6)), logs: [] },
    }),
  'ask for something unknown': () =>
    send({ type: 'request', id: 1, kind: 'exec' as never, value: 'id' }),
  'ask without end': () => {
    for (let id = 0; id < 5000; id++) send({ type: 'request', id, kind: 'tool', value: {} });
  },
  'report that it is ready again': () => send({ type: 'ready' }),
  'end itself': () => process.exit(0),
  'send nothing': () => undefined,
  'loop forever': () => {
    for (;;);
  },
};

const read = createFrameReader<ToSandbox>(({ head }) => {
  if (head.type === 'seal') {
    seal(head.uid);
    send({ type: 'ready' });
  }
  if (head.type !== 'run') return;
  send({ type: 'begun' });
  const isRude =
    Object.keys(attempts).indexOf(head.code) >=
    Object.keys(attempts).indexOf('answer with garbage');
  const answer = (text: string) =>
    send({ type: 'done', outcome: { kind: 'result', result: JSON.stringify(text), logs: [] } });
  void (async () => attempts[head.code]!(JSON.parse(head.args) as string))().then(
    (value) => isRude || answer(`reached: ${String(value)}`),
    (error: Error & { code?: string }) => answer(`stopped: ${error.code ?? error.message}`),
  );
});
service.on('data', read);
service.on('close', () => process.exit(0));
process.on('uncaughtException', (error) =>
  send({
    type: 'done',

    outcome: { kind: 'result', result: JSON.stringify(`stopped: ${error.message}`), logs: [] },
  }),
);
send({ type: 'loaded' });
