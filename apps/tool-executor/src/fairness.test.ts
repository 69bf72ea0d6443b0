import { onRefusal } from '@parley/contracts';
import { type Answer, type TestExecutor, startTestExecutor } from '../testing/start-test-executor';

/* One organization's calls must not make those of another wait, whatever it sends. */

let service: TestExecutor;
const refusals: string[] = [];
beforeAll(async () => {
  onRefusal((limit) => refusals.push(limit));
  service = await startTestExecutor({
    minProcesses: 4,
    maxProcesses: 4,
    maxQueue: 9,
    queueTimeoutMs: 30_000,
  });
});
afterAll(() => service.close());

const of = (organizationId: string) => ({ context: { organizationId } });

it('an organization with slow calls is refused beyond its share, and others are served meanwhile', async () => {
  const code = 'await new Promise((resolve) => setTimeout(resolve, 5000)); return "slow"';
  const flood = Array.from({ length: 30 }, () =>
    service.run(code, { ...of('a'), timeoutMs: 30_000 }),
  );
  const refused = await Promise.race(flood);
  expect(refused).toMatchObject({
    status: 503,
    body: {
      code: 'executor_share_exceeded',
      error: "The organization's share of the sandboxes is in use",
    },
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(refusals).toContain('executor_share_exceeded');
  for (let call = 0; call < 20; call++) {
    const answer = await service.run('return "fast"', { ...of('b'), timeoutMs: 10_000 });
    expect(answer.body).toMatchObject({ result: 'fast' });
  }
  // Calls of the first organization are still running or waiting.
  expect(service.executor.stats().waiting).toBeGreaterThan(0);
  const answers = await Promise.all(flood);
  // Three of the four processes, and six of the nine places of the queue.
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
});

it('calls that name no organization share a key', async () => {
  const slow = Array.from({ length: 10 }, () =>
    service.run('await new Promise((resolve) => setTimeout(resolve, 500)); return 1', {
      timeoutMs: 10_000,
    }),
  );
  const refused = await Promise.race(slow);
  expect(refused).toMatchObject({ status: 503, body: { code: 'executor_share_exceeded' } });
  expect((await service.run('return 1', { ...of('b'), timeoutMs: 10_000 })).status).toBe(200);
  await Promise.all(slow);
});

it('an organization that pushes many handlers does not make the push of another wait', async () => {
  const order: string[] = [];
  const validate = async (organizationId: string, index: number): Promise<Answer> => {
    const lines = Array.from(
      { length: 1000 },
      (_, line) => `const v${line}: number = ${index} + ${line};`,
    );
    const answer = await service.post('/validate', {
      handlerCode: lines.join('\n'),
      organizationId,
    });
    order.push(organizationId);
    return answer;
  };
  const many = Array.from({ length: 8 }, (_, index) => validate('a', index));
  const other = await validate('b', 100);
  expect(other.body).toEqual({ valid: true });
  expect(order.filter((one) => one === 'a').length).toBeLessThan(8);
  await Promise.all(many);
});

it('validation refuses an organization that is no short text', async () => {
  for (const organizationId of ['', 'x'.repeat(129), 5]) {
    expect(
      (await service.post('/validate', { handlerCode: 'return 1', organizationId })).status,
    ).toBe(400);
  }
});
