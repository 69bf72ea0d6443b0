import type { ChatRequest } from '@parley/agents';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { type TestRuntime, startRuntime } from '@parley/runtime/testing';
import { seedOrganization } from '@parley/testing';
import { runProcess } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let stack: ManageUnderTest;
let db: Db;
let cli: Cli;
let runtime: TestRuntime;
let scope: Scope;
let other: Scope;
/** Keys of the shop. */
const keys = { development: '', production: '' };

/**
 * The code of the services writes the data that is read here, with the scripted model,
 * which needs no key.
 */
beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  ({ db } = stack);
  runtime = startRuntime(db, { OPENAI_API_KEY: 'unused' });
  const shop: Parameters<typeof seedOrganization>[1] = {
    agents: [
      { slug: 'helper', model: 'offline/scripted', tools: ['entity.query'], roles: ['reader'] },
      { slug: 'mute', model: 'anthropic/none' },
      { slug: 'quiet', model: 'anthropic/none' },
    ],
    roles: [
      {
        slug: 'reader',
        name: 'Reader',
        policies: [{ resource: '*', actions: ['*'], effect: 'allow' }],
      },
    ],
    entityTypes: [{ slug: 'product', name: 'Product', schema: { name: 'string' } }],
  };
  scope = (await seedOrganization(db.pool, { slug: 'shop', ...shop })).scope;
  keys.development = await stack.api.keyOf(scope, ['manage']);
  keys.production = await stack.api.keyOf({ ...scope, environment: 'production' }, ['manage']);
  other = (await seedOrganization(db.pool, { slug: 'rival', ...shop })).scope;
  await runtime.entities.create(scope, {
    type: 'product',
    data: { name: 'Tent' },
    actor: { type: 'system' },
  });
});
afterAll(async () => {
  await runtime.close();
  await stack.close();
  cli.remove();
});

const parley = (args: string[], env: Record<string, string> = {}) =>
  cli.parley([...args, ...(args.includes('--org') ? [] : ['--org', 'shop'])], {
    env: { ...stack.envOf(keys.development), ...env },
  });
async function succeed(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await parley(args, env);
  expect({ exitCode, stderr: stderr.replace(/^Next page: .*\n/, '') }).toEqual({
    exitCode: 0,
    stderr: '',
  });
  return stdout;
}
const json = async (args: string[]) => JSON.parse(await succeed([...args, '--json']));

const send = (
  externalThreadId: string,
  message: string,
  more: Partial<ChatRequest> = {},
  into = scope,
) =>
  runtime.agents.chat(into, {
    agent: { slug: 'helper' },
    channel: 'api',
    message,
    externalThreadId,
    ...more,
  });
const lastExecution = async (): Promise<string> =>
  (await db.pool.query<{ id: string }>('select max(id)::text as id from executions')).rows[0]!.id;

describe('threads show', () => {
  test('shows messages and tool calls in order, in the time zone of the terminal', async () => {
    await send('web:1', 'Hello', { params: { plan: 'gold' }, channel: 'widget' });
    await send('web:1', '/tool entity.query {"type":"product"}');
    const thread = await json(['threads', 'show', 'web:1']);
    expect(thread).toMatchObject({
      externalId: 'web:1',
      channel: 'widget',
      params: { plan: 'gold' },
      hasMore: false,
    });
    expect(thread.executions.map(({ input }: { input: string }) => input)).toEqual([
      'Hello',
      '/tool entity.query {"type":"product"}',
    ]);
    const [first, second] = thread.executions;
    const env = { ...stack.envOf(keys.development), TZ: 'Asia/Kolkata' };
    const { stdout: text } = await runProcess(['threads', 'show', thread.id], {
      cwd: cli.folder,
      env,
    });
    const inKolkata = new Date(first.createdAt + 5.5 * 3_600_000).toISOString();
    const heading = `── ${inKolkata.slice(0, 10)} ${inKolkata.slice(11, 19)}  execution ${first.id}  helper  succeeded`;
    expect(text).toMatch(
      /^thread +thread_\w+\nexternal id +web:1\nagent +helper\nchannel +widget\nstate +agent\n/,
    );
    expect(text).toContain('{"plan":"gold"}');
    expect(text).toContain('(Asia/');
    expect(text).toContain(heading);
    const [greeting, search] = text.split(/^── /m).slice(1);
    expect(greeting).toMatch(/\nuser\n {2}Hello\nassistant\n {2}No model provider is configured/);
    expect(search).toContain(`execution ${second.id}`);
    expect(search).toMatch(
      /\ncall entity\.query \{"type": ?"product"\}\n {2}ok, \d+ ms {2}\{.*"Tent".*\nassistant\n {2}/,
    );
  });

  test('shows the last turns of a long thread, and earlier ones with --cursor', async () => {
    for (let turn = 1; turn <= 5; turn++) await send('long', `Message ${turn}`);
    const inputs = (text: string) => text.match(/Message \d/g);
    const newest = await succeed(['threads', 'show', 'long', '--limit', '2']);
    expect(inputs(newest)).toEqual(['Message 4', 'Message 5']);
    const [, cursor] = /Earlier turns: --cursor (\S+)/.exec(newest)!;
    const earlier = await succeed(['threads', 'show', 'long', '--limit', '3', '--cursor', cursor!]);
    expect(inputs(earlier)).toEqual(['Message 1', 'Message 2', 'Message 3']);
    expect(earlier).not.toContain('Earlier turns');
  });

  test('marks replies that were not delivered or may not have been delivered', async () => {
    await send('whatsapp:1', 'Hello', { requestId: 'wam_in' });
    await send('whatsapp:1', 'Still there?', { requestId: 'wam_in2' });
    for (const [id, key, status, error] of [
      ['wam_a', 'reply-wam_in-0', 'failed', 'Kapso refuses: outside of 24 hours (131047)\u001b[2J'],
      ['wam_b', 'reply-wam_in-1', 'unknown', 'no answer came'],
      ['wam_c', 'reply-wam_in2-0', 'delivered', null],
      ['wam_d', 'reply-wam_in3-0', 'failed', 'of another'],
    ])
      await db.pool.query(
        `insert into messages (id, tenant, environment, direction, contact, type, text, payload, status, error,
                               idempotency_key, updated_at)
         values ($1, $2, $3::"Environment", 'outbound', '1', 'text', 'Hi', '{}', $4, $5, $6, now())`,
        [id, scope.tenant, scope.environment, status, error, key],
      );
    const [first, second] = (await succeed(['threads', 'show', 'whatsapp:1']))
      .split(/^── /m)
      .slice(1);
    expect(first).toContain(
      '\nnot delivered: message wam_a: Kapso refuses: outside of 24 hours (131047)\\u001b[2J\n' +
        'may not have been delivered: message wam_b: no answer came\n',
    );
    expect(second).not.toContain('deliver');
    const { executions } = await json(['threads', 'show', 'whatsapp:1']);
    expect(
      executions.map(({ deliveries }: { deliveries: unknown[] }) => deliveries.length),
    ).toEqual([2, 1]);
  });

  test('messages list shows the reason of failures, and messages retry sends them again', async () => {
    const { data: messages } = await json([
      'messages',
      'list',
      '--direction',
      'outbound',
      '--contact',
      '+1',
    ]);
    expect(messages.map(({ id }: { id: string }) => id).sort()).toEqual([
      'wam_a',
      'wam_b',
      'wam_c',
      'wam_d',
    ]);
    const listed = await succeed(['messages', 'list', '--status', 'failed']);
    expect(listed).toMatch(
      /^wam_a +out +1 +text +failed .* Hi +Kapso refuses: outside of 24 hours \(131047\)\\u001b/m,
    );
    expect(listed).not.toContain('wam_b');
    expect(await parley(['messages', 'retry', 'wam_a'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('wam_a: No WhatsApp number is connected'),
    });
    await db.pool.query(
      `insert into channel_connections (id, tenant, environment, phone_number_id, status, updated_at)
       values ('conn_1', $1, $2::"Environment", '42', 'connected', now())`,
      [scope.tenant, scope.environment],
    );
    // One message that cannot be retried does not prevent the retry of the others.
    expect(await parley(['messages', 'retry', 'wam_c', 'wam_a'])).toMatchObject({
      exitCode: 1,
      stdout: 'wam_a is tried again.\n',
      stderr: expect.stringContaining('wam_c: A message that is delivered cannot be retried'),
    });
    const doubted = await parley(['messages', 'retry', 'wam_b', 'wam_c']);
    expect(doubted).toMatchObject({ exitCode: 1 });
    expect(doubted.stderr).toMatch(
      /wam_b: The contact may have received the message.* \(--anyway\)\n/,
    );
    expect(doubted.stderr).toContain('wam_c: A message that is delivered cannot be retried');
    const again = /^wam_b is tried again as (wam_\w+)\.\n$/.exec(
      await succeed(['messages', 'retry', 'wam_b', '--anyway']),
    );
    const statuses = await db.pool.query(
      'select id, status, connection_id from messages where id = any($1) order by id',
      [['wam_a', 'wam_b', again![1]]],
    );
    expect(statuses.rows).toEqual(
      expect.arrayContaining([
        { id: 'wam_a', status: 'queued', connection_id: 'conn_1' },
        { id: 'wam_b', status: 'unknown', connection_id: null },
        { id: again![1], status: 'queued', connection_id: 'conn_1' },
      ]),
    );
    // The message of a retry replaces the first one.
    await db.pool.query("update messages set status = 'failed', error = 'again' where id = $1", [
      again![1],
    ]);
    expect(await succeed(['threads', 'show', 'whatsapp:1'])).toContain(
      `\nnot delivered: message ${again![1]}: again\n`,
    );
    await db.pool.query("update messages set status = 'delivered' where id = $1", [again![1]]);
    expect(await succeed(['threads', 'show', 'whatsapp:1'])).not.toContain('deliver');
  });

  test('e-mails are listed with their status', async () => {
    for (const [id, status, error] of [
      ['email_1', 'delivered', null],
      ['email_2', 'bounced', 'mailbox full\u001b[2J'],
    ])
      await db.pool.query(
        `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, error, updated_at)
         values ($1, $2, $3::"Environment", $1, 'a@b.example', '{c@d.example,e@f.example}', 'Hola', $4, $5, now())`,
        [id, scope.tenant, scope.environment, status, error],
      );
    const { data: emails } = await json(['emails', 'list']);
    expect(emails.map(({ id }: { id: string }) => id).sort()).toEqual(['email_1', 'email_2']);
    const bounced = await succeed(['emails', 'list', '--status', 'bounced']);
    expect(bounced).toMatch(
      /^email_2 +c@d\.example, e@f\.example +Hola +bounced +0 .* mailbox full\\u001b/m,
    );
    expect(bounced).not.toContain('email_1');
    const inProduction = await parley(
      ['emails', 'list', '--env', 'production', '--json'],
      stack.envOf(keys.production),
    );
    expect(JSON.parse(inProduction.stdout).data).toEqual([]);
  });

  test('cuts long texts, except with --full and --json', async () => {
    const long = `${'x'.repeat(1999)}😀${'y'.repeat(3000)}`;
    await send('wordy', long);
    const text = await succeed(['threads', 'show', 'wordy']);
    expect(text).toContain(`\n  ${'x'.repeat(1999)}… [3002 more characters]\n`);
    expect(await succeed(['threads', 'show', 'wordy', '--full'])).toContain(`\n  ${long}\n`);
    expect((await json(['threads', 'show', 'wordy'])).executions[0].input).toBe(long);
  });

  test('control characters in stored text do not reach the terminal', async () => {
    const hostile = '\u001b]0;owned\u0007\u009b31m\u202egnp\r\n\tline\u007f\b\b';
    await send(`web\u001b[2J`, `${hostile}\n── heading`, { params: { '\u001b[A': '\u009b1m' } });
    await send(`web\u001b[2J`, `/tool entity.query {"type":"\u009b31m\u202e"}`);
    const { id: threadId, executions } = await json(['threads', 'show', `web\u001b[2J`]);
    const outputs = [
      await succeed(['threads', 'show', threadId]),
      await succeed(['threads', 'show', threadId, '--json']),
      await succeed(['threads', 'list']),
      await succeed(['threads', 'list', '--json']),
      await succeed(['executions', 'list', '--thread', threadId]),
      await succeed(['executions', 'show', executions[0].id]),
      await succeed(['executions', 'show', executions[1].id, '--full']),
      await succeed(['executions', 'show', executions[1].id, '--json']),
      (await parley(['threads', 'show', 'none\u001b[2J'])).stderr,
    ];
    for (const output of outputs) expect(output).not.toMatch(/(?![\n\t])[\p{Cc}\u202e]/u);
    expect(outputs[0]).toContain(
      '\n  \\u001b]0;owned\\u0007\\u009b31m\\u202egnp\n  \tline\\u007f\\u0008\\u0008\n  ── heading\n',
    );
    expect(outputs[0]).toContain('\nexternal id   web\\u001b[2J\n');
    expect(executions[0].input).toBe(`${hostile}\n── heading`);
  });
});

describe('human takeover', () => {
  test('during a takeover messages are stored and not answered; after resume they are answered', async () => {
    await send('takeover', 'Hi');
    const { id } = await json(['threads', 'show', 'takeover']);
    const effect = 'messages are stored and not answered';
    expect(await succeed(['threads', 'takeover', 'takeover'])).toBe(
      `Took over ${id}: ${effect}.\n`,
    );
    expect(await succeed(['threads', 'takeover', id])).toBe(
      `${id} was already taken over: ${effect}.\n`,
    );
    expect(await send('takeover', 'Anybody?')).toMatchObject({ ok: true, state: 'stored' });
    const text = await succeed(['threads', 'show', 'takeover']);
    expect(text).toMatch(/\nstate +human: /);
    expect(text).toMatch(
      / stored {2}0 ms\nuser\n {2}Anybody\?\nno answer: a person had taken over\n$/,
    );
    expect(await succeed(['executions', 'list', '--status', 'stored'])).toContain('Anybody?');
    expect(await succeed(['threads', 'resume', id])).toBe(
      `Resumed ${id}: the agent answers messages.\n`,
    );
    expect(await send('takeover', 'And now?')).toMatchObject({ ok: true, state: 'answered' });
  });
});

describe('people', () => {
  test('a reply is stored as the words of a person, who has then taken the thread over, and notes are shown', async () => {
    await send('people', 'Hi');
    const { id } = await json(['threads', 'show', 'people']);
    expect(await succeed(['threads', 'reply', 'people', 'Ana here.\u001b[2J'])).toMatch(
      /^Stored msg_\w+\. The contact reads it with the messages of the thread\.\n$/,
    );
    expect(
      await succeed([
        'threads',
        'list',
        '--state',
        'human',
        '--status',
        'open',
        '--search',
        'people',
      ]),
    ).toContain(id);
    expect(await succeed(['threads', 'takeover', id, '--for', '2h'])).toMatch(
      / The agent answers again from \S+ \S+ on\.$/m,
    );
    expect(await succeed(['threads', 'resume', id, '--note', 'The tent is sold.'])).toContain(
      'the agent answers',
    );
    const text = await succeed(['threads', 'show', 'people']);
    expect(text).toMatch(/\nperson manage\n {2}Ana here\.\\u001b\[2J\n/);
    expect(text).toMatch(/\nto the agent, by manage\n {2}The tent is sold\.\n/);
    expect(await succeed(['executions', 'show', await lastExecution()])).toContain('Hi');

    const wrong: [number, string, ...string[]][] = [
      [2, 'Give a text'],
      [2, 'need each other', 'Hi', '--template', 'hello'],
      [2, 'without text and file', 'Hi', '--template', 'hello', '--language', 'es'],
      [1, 'Cannot read none.png: ENOENT', '--file', 'none.png'],
      [1, 'no_channel', '--template', 'hello', '--language', 'es'],
    ];
    for (const [code, message, ...args] of wrong)
      expect(await parley(['threads', 'reply', 'people', ...args])).toMatchObject({
        exitCode: code,
        stdout: '',
        stderr: expect.stringContaining(message),
      });
    expect(await parley(['threads', 'takeover', id, '--for', 'long'])).toMatchObject({
      exitCode: 2,
    });
  });
});

describe('lists', () => {
  test('threads list shows those that a person has taken over', async () => {
    for (const id of ['state:1', 'state:2']) await send(id, 'Hi', { agent: { slug: 'quiet' } });
    await succeed(['threads', 'takeover', 'state:2']);
    const list = async (state: string) => {
      const { data } = await json(['threads', 'list', '--agent', 'quiet', '--state', state]);
      return data.map(({ externalId }: { externalId: string }) => externalId);
    };
    expect([await list('human'), await list('agent')]).toEqual([['state:2'], ['state:1']]);
  });

  test('pages of threads repeat and omit none, also within one millisecond and when a thread moves to the front', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    for (let count = 0; count < 7; count++)
      await send(`page:${count}`, 'Hi', { agent: { slug: 'mute' } });
    await db.pool.query(`update threads set last_message_at = $1 where external_id like 'page:%'`, [
      at,
    ]);
    const seen: string[] = [];
    for (let after: string[] = []; ;) {
      const { data, cursor, hasMore } = await json([
        'threads',
        'list',
        '--agent',
        'mute',
        '--limit',
        '3',
        ...after,
      ]);
      seen.push(...data.map(({ externalId }: { externalId: string }) => externalId));
      if (!hasMore) break;
      if (after.length === 0) await send(seen[0]!, 'Again', { agent: { slug: 'mute' } });
      after = ['--cursor', cursor];
    }
    expect(seen.sort()).toEqual([0, 1, 2, 3, 4, 5, 6].map((count) => `page:${count}`));

    const table = await parley(['threads', 'list', '--agent', 'mute', '--limit', '1']);
    expect(table.stdout).toMatch(
      /^THREAD .*\nthread_\w+ +page:\d +- +mute +api +agent +2 .*Again\n$/,
    );
    expect(table.stderr).toMatch(/^Next page: --cursor \S+\n$/);
  });

  test('pages of executions repeat and omit none, newest first', async () => {
    for (let turn = 0; turn < 5; turn++) await send('pages', `Turn ${turn}`);
    await db.pool.query(
      `update executions set created_at = now() where thread_id = (select id from threads where external_id = 'pages')`,
    );
    const seen: string[] = [];
    for (let after: string[] = []; ;) {
      const page = await json([
        'executions',
        'list',
        '--thread',
        'pages',
        '--limit',
        '2',
        ...after,
      ]);
      seen.push(...page.data.map(({ input }: { input: string }) => input));
      if (!page.hasMore) break;
      after = ['--cursor', page.cursor];
    }
    expect(seen).toEqual(['Turn 4', 'Turn 3', 'Turn 2', 'Turn 1', 'Turn 0']);
  });

  test('show only rows of the organization and the environment', async () => {
    await send('secret', 'Rival', {}, other);
    const foreign = await lastExecution();
    const { rows } = await db.pool.query<{ id: string }>(
      `select id from threads where external_id = 'secret'`,
    );
    const threadId = rows[0]!.id;
    for (const args of [
      ['threads', 'show', 'secret'],
      ['threads', 'show', threadId],
      ['threads', 'takeover', threadId],
      ['executions', 'list', '--thread', threadId],
      ['executions', 'show', foreign],
    ]) {
      const { exitCode, stdout, stderr } = await parley(args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(
        /^error: (Thread|Execution) not found \((thread|execution|not)_?\w+, request \S+\)\n$/,
      );
    }
    expect(await succeed(['threads', 'list', '--limit', '100'])).not.toContain('secret');
    expect(await succeed(['executions', 'list', '--limit', '100'])).not.toContain('Rival');
    const production = await parley(
      ['threads', 'list', '--env', 'production'],
      stack.envOf(keys.production),
    );
    expect(production).toEqual({ exitCode: 0, stdout: '', stderr: 'No threads in production\n' });
    const { rows: states } = await db.pool.query('select state from threads where id = $1', [
      threadId,
    ]);
    expect(states).toEqual([{ state: 'agent' }]);
  });
});

describe('executions show', () => {
  test('shows the steps in order with tokens, durations, arguments and results', async () => {
    await send('steps', '/tool entity.query {"type":"product"}', { requestId: 'req-77' });
    const id = await lastExecution();
    const execution = await json(['executions', 'show', id]);
    expect(execution).toMatchObject({
      id,
      status: 'succeeded',
      modelCallCount: 2,
      requestId: 'req-77',
      error: null,
    });
    expect(execution.steps).toEqual([
      expect.objectContaining({ type: 'model', model: 'offline/scripted', status: 'success' }),
      expect.objectContaining({
        type: 'tool',
        name: 'entity.query',
        arguments: { type: 'product' },
        status: 'success',
      }),
      expect.objectContaining({ type: 'model', model: 'offline/scripted', status: 'success' }),
    ]);
    const { inputTokens } = execution.steps[0];
    expect(inputTokens).toBeGreaterThan(0);
    expect(execution.inputTokens).toBe(inputTokens + execution.steps[2].inputTokens);
    const text = await succeed(['executions', 'show', id]);
    expect(text).toMatch(
      /\nstatus +succeeded\nrequest +req-77\nmodel +offline\/scripted\ntokens +\d+ in, \d+ out\n/,
    );
    expect(text).toContain(`\n  1. model offline/scripted  ${inputTokens} in, `);
    expect(text).toMatch(
      /\n {2}2\. tool entity\.query \{"type":"product"\}\n {5}ok, \d+ ms {2}\{.*Tent/,
    );
    expect(text).toMatch(/\noutput\n {2}entity\.query returned: /);
  });

  test('lists tool errors, and shows the prompt as it was sent with --prompt', async () => {
    await send('prompted', '/tool entity.query {"type":"nothing"}');
    const id = await lastExecution();
    const listed = await succeed(['executions', 'list', '--tool-errors', '--thread', 'prompted']);
    expect(listed).toMatch(
      new RegExp(`^EXECUTION .* CALLS +TOOL ERRORS +TOKENS .*\n${id} .* 2 +1 of 1 +\\d+ \\+ `),
    );
    await send('prompted', 'Hello');
    expect(
      await json(['executions', 'list', '--tool-errors', '--thread', 'prompted']),
    ).toMatchObject({
      data: [{ id }],
    });
    const { prompt } = await json(['executions', 'show', id]);
    expect(prompt.text).not.toBe('');
    const [head, shown] = (await succeed(['executions', 'show', id, '--prompt'])).split(
      '\nprompt\n',
    );
    expect(head).not.toContain(prompt.text);
    expect(shown).toBe(`  ${prompt.text.replaceAll('\n', '\n  ')}\n\ntools\n  entity.query\n`);
  });

  test('shows the error of a failed execution, and the error type of a failed tool call', async () => {
    await send('failing', 'Hi', { agent: { slug: 'mute' } });
    const failed = await succeed([
      'executions',
      'list',
      '--status',
      'failed',
      '--thread',
      'failing',
    ]);
    expect(failed).toMatch(/ mute +failed +anthropic\/none .*not_configured/);
    const text = await succeed(['executions', 'show', await lastExecution()]);
    expect(text).toMatch(/\nstatus +failed\nerror +anthropic\/none: not_configured/);
    expect(text).toMatch(/\n {2}1\. model anthropic\/none {2}error: not_configured {2}\d+ ms\n/);
    expect(await succeed(['threads', 'show', 'failing'])).toContain(
      'no answer: anthropic/none: not_configured',
    );

    await send('failing', '/tool entity.query {"type":"nothing"}');
    expect(await succeed(['executions', 'show', await lastExecution()])).toMatch(
      /\n {5}error, \d+ ms {2}\w+: Entity type nothing not found\n/,
    );
  });

  test('shows the calls of a killed process, and that the result of the last one is unknown', async () => {
    await send('killed', 'Hi');
    const { id: threadId } = await json(['threads', 'show', 'killed']);
    const { rows } = await db.pool.query<{ id: string }>(
      `insert into executions (tenant, environment, thread_id, agent_slug, status, lease_owner, lease_until,
                               input, started_at)
       values ($1, 'development', $2, 'helper', 'running', 'killed', now() - interval '1 minute', 'Pay', now())
       returning id::text as id`,
      [scope.tenant, threadId],
    );
    const { id } = rows[0]!;
    const calls = JSON.stringify([
      { id: 'zz', name: 'first.done', args: {} },
      { id: 'aa', name: 'second.begun', args: { amount: 1 } },
    ]);
    await db.pool.query(
      `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content, tool_calls)
       values ('m0', $4, $1, $2, 0, 'user', 'Pay', null), ('m1', $4, $1, $2, 1, 'assistant', '', $3::jsonb)`,
      [threadId, id, calls, scope.tenant],
    );
    await db.pool.query(
      `insert into tool_calls (tenant, execution_id, call_id, name, args, status, result, started_at, finished_at)
       values ($1, $2, 'zz', 'first.done', '{}', 'succeeded', '{"ok":true,"result":[1]}', now() - interval '1 ms', now()),
              ($1, $2, 'aa', 'second.begun', '{"amount":1}', 'started', null, now(), null)`,
      [scope.tenant, id],
    );
    const text = await succeed(['executions', 'show', id]);
    expect(text).toMatch(/\nstatus +stalled\n/);
    expect(text).toMatch(
      /1\. tool first\.done \{\}\n {5}ok, \d+ ms {2}\[1\]\n {2}2\. tool second\.begun \{"amount":1\}\n/,
    );
    expect(text).toMatch(/\n {5}interrupted: the call may or may not have taken effect\n?$/);
    expect(await succeed(['threads', 'show', threadId])).toContain('no longer renews its lease');
    expect(await succeed(['executions', 'list', '--status', 'stalled'])).toContain(`\n${id} `);
    expect(await succeed(['executions', 'list', '--status', 'stalled'])).not.toContain('succeeded');
  });
});

test.each([
  [
    'an unknown environment',
    ['threads', 'list', '--env', 'staging'],
    '--env must be development or production',
  ],
  [
    'an invalid limit',
    ['threads', 'list', '--limit', '0'],
    '--limit must be a number from 1 to 1000',
  ],
  [
    'a key of another environment',
    ['threads', 'list', '--env', 'production'],
    'The key is of development. Set PARLEY_API_KEY',
  ],
  [
    'a key of another organization',
    ['threads', 'list', '--org', 'rival'],
    'The key belongs to the organization "shop". Set PARLEY_API_KEY to a key of "rival"',
  ],
  [
    'an unknown status',
    ['executions', 'list', '--status', 'odd'],
    'Allowed choices are queued, running, stalled',
  ],
])('%s is refused with status 2 and one line', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await parley(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(
    stderr
      .trim()
      .replace(/\nRun the command with --help .*$/, '')
      .split('\n'),
  ).toHaveLength(1);
});

test.each([
  ['an invalid cursor', ['threads', 'list', '--cursor', 'x'], 'invalid_cursor'],
  ['an invalid execution id', ['executions', 'show', '1; drop'], 'Execution not found'],
  ['an empty id', ['executions', 'show', ''], 'cannot be used as a path segment'],
])('%s is refused with status 1 and one line', async (_, args, message) => {
  const { exitCode, stdout, stderr } = await parley(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
