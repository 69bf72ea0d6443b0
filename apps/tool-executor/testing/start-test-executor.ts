import { mkdtemp, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGuardedFetch } from '@parley/outbound';
import { silentLogger } from '@parley/service';
import { build } from 'esbuild';
import { createExecutorApp } from '../src/app';
import { type Executor, type ExecutorOptions, createExecutor } from '../src/executor';
import { createToolCallback } from '../src/tool-callback';

/** The app on its own port, with real sandbox processes. */
export interface TestExecutor {
  url: string;
  executor: Executor;
  /** Posts JSON, by default with the right token, and parses the body of the answer. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Runs a handler, by default with a time limit of 500 ms. */
  run(handlerCode: string, more?: object): Promise<Answer>;
  close(): Promise<void>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
  durationMs: number;
}

const testToken = 'test-executor-token';

/**
 * Bundles a process as tools/build.mjs does (`childBuildOptions`) and returns its path. The name of
 * the folder contains the process id, so that the next test run can remove it (libs/embedded) when
 * this one was killed.
 */
export async function buildSandbox(
  source = join(__dirname, '../src/sandbox-process.ts'),
): Promise<{ entry: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), `parley-sandbox-${process.pid}-`));
  const outfile = join(folder, 'sandbox-process.cjs');
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    loader: { '.wasm': 'binary' },
    minifyWhitespace: true,
    minifySyntax: true,
    tsconfig: join(__dirname, '../../../tsconfig.base.json'),
  });
  return { entry: outfile, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function startTestExecutor(
  options: Partial<ExecutorOptions> & { chatUrl?: string; allowedPrivateHosts?: string[] } = {},
): Promise<TestExecutor> {
  const sandbox = await buildSandbox();
  const executor = createExecutor({
    sandboxEntry: sandbox.entry,
    sandboxUid: 65_534,
    minProcesses: 2,
    maxProcesses: 4,
    maxQueue: 64,
    queueTimeoutMs: 5000,
    guardedFetch: createGuardedFetch({ allowedPrivateHosts: options.allowedPrivateHosts }),
    toolCallback: createToolCallback(),
    log: silentLogger(),
    ...options,
  });
  const app = createExecutorApp({
    executor,
    executorToken: testToken,
    chatUrl: options.chatUrl ?? 'http://127.0.0.1:1',
    log: silentLogger(),
    checkResponses: true,
  });
  await executor.warm();
  const server = createServer(app);
  // After 5 s, the default, the server would close a connection that a delayed test is
  // about to use again.
  server.keepAliveTimeout = 600_000;
  const url = await listen(server);
  const post = async (
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const startedAt = performance.now();
    const response = await fetch(url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testToken}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const parsed = (await response.json()) as Record<string, unknown>;
    return {
      status: response.status,
      body: parsed,
      headers: response.headers,
      durationMs: performance.now() - startedAt,
    };
  };
  return {
    url,
    executor,
    post,
    run: (handlerCode, more = {}) =>
      post('/execute', { handlerCode, args: {}, timeoutMs: 500, ...more }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await executor.close();
      await sandbox.remove();
    },
  };
}

export function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });
}
