import { type Server, createServer } from 'node:http';
import { executorLimits, toolCallbackBodySchema } from '@parley/contracts';
import {
  type Answer,
  type TestExecutor,
  listen,
  startTestExecutor,
} from '../testing/start-test-executor';

/*
 * Custom tools that call custom tools. Each holds its sandbox while it waits for the next.
 * The test serves chat's endpoint for tool calls, and executes a called tool at the depth
 * that the executor sends.
 */

// On a busy machine each process that is added for deeper calls takes seconds to start.
jest.setTimeout(180_000);

const chains = 4;
const leafCode = 'return [args.name + args.level]';
/**
 * Continues when every chain holds a sandbox, so that none is free for the tools that they call.
 */
const linkCode = `
  if (args.level === 0) await parley.waitForOthers({});
  const rest = await parley.next({ name: args.name, level: args.level + 1 });
  return [args.name + args.level, ...rest];`;

let chat: Server;
let service: TestExecutor;
let deepest = 0;
let arrived: (() => void)[] = [];

/** Resolves when every chain has called it. */
function waitForOthers(): Promise<void> {
  return new Promise((resolve) => {
    arrived.push(resolve);
    if (arrived.length === chains) for (const proceed of arrived) proceed();
  });
}

const execute = (args: { name: string; level: number }, depth: number): Promise<Answer> =>
  service.run(args.level < deepest ? linkCode : leafCode, {
    args,
    // Each chain is of another organization, as one alone may not hold all processes.
    context: { organizationId: args.name },
    timeoutMs: 60_000,
    callback: { token: 'call-token', depth },
  });

beforeAll(async () => {
  chat = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { tool, args, depth } = toolCallbackBodySchema.parse(JSON.parse(text));
    if (tool === 'waitForOthers') {
      await waitForOthers();
      return void response.end(JSON.stringify({ ok: true }));
    }
    const { status, body } = await execute(args as { name: string; level: number }, depth);
    const result = status === 200 && 'result' in body ? { ok: true, result: body.result } : null;
    response.end(
      JSON.stringify(
        result ?? { ok: false, error: `${status} ${body.error}`, errorType: 'execution_error' },
      ),
    );
  });
  service = await startTestExecutor({
    chatUrl: await listen(chat),
    minProcesses: chains,
    maxProcesses: chains,
    queueTimeoutMs: 1500,
  });
});
afterAll(async () => {
  await service.close();
  chat.closeAllConnections();
  chat.close();
});
beforeEach(() => void (arrived = []));

async function runChains(levels: number): Promise<void> {
  deepest = levels - 1;
  const names = Array.from({ length: chains }, (_, index) => `chain ${index} at `);
  const answers = await Promise.all(names.map((name) => execute({ name, level: 0 }, 0)));
  expect(answers.map(({ body }) => body.result ?? body.error)).toEqual(
    names.map((name) => Array.from({ length: levels }, (_, level) => name + level)),
  );
}

it(`${chains} chains of 3 calls on ${chains} processes all finish`, () => runChains(3));

it('chains of the maximum depth all finish', () => runChains(executorLimits.maxCallbackDepth));

it('calls from outside are refused while all processes are held', async () => {
  const held = Array.from({ length: chains }, () =>
    service.run('await new Promise(() => {})', { timeoutMs: 4000 }),
  );
  const refused = await service.run('return 1', { timeoutMs: 100 });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  const nested = await service.run('return 1', { callback: { token: 'call-token', depth: 1 } });
  expect(nested.body.result).toBe(1);
  await Promise.all(held);
});
