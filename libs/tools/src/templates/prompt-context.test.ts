import type { AgentDefinition, Scope } from '@parley/contracts';
import { type Db, createDb, prismaOf } from '@parley/db';
import { openTestDatabase } from '@parley/testing';
import { compileTemplate } from './compile-template';
import { localDay } from './local-day';
import { loadPromptVariables } from './prompt-context';

describe('localDay', () => {
  it.each([
    ['2026-11-20T23:30:05Z', 'UTC', '2026-11-20T23:30:05+00:00', '2026-11-20', 'Friday'],
    ['2026-11-20T23:30:05Z', 'Asia/Kolkata', '2026-11-21T05:00:05+05:30', '2026-11-21', 'Saturday'],
    [
      '2026-11-21T01:30:05Z',
      'America/Santiago',
      '2026-11-20T22:30:05-03:00',
      '2026-11-20',
      'Friday',
    ],
    [
      '2026-07-01T03:00:00Z',
      'America/Santiago',
      '2026-06-30T23:00:00-04:00',
      '2026-06-30',
      'Tuesday',
    ],
    [
      '2026-01-01T00:00:00Z',
      'Europe/Berlin',
      '2026-01-01T01:00:00+01:00',
      '2026-01-01',
      'Thursday',
    ],
  ])('%s in %s', (instant, timezone, now, today, weekday) => {
    expect(localDay(new Date(instant), timezone)).toEqual({ now, today, weekday, timezone });
  });

  it('falls back to UTC for an unknown zone', () => {
    expect(localDay(new Date('2026-11-20T00:00:00Z'), 'Mars/Base').timezone).toBe('UTC');
  });
});

describe('loadPromptVariables', () => {
  const place = { tenant: 1, environment: 'development' as const };
  const scope: Scope = { organizationId: 'org_1', ...place };
  const agent: AgentDefinition = {
    slug: 'helper',
    name: 'Helper',
    description: 'Helps',
    version: '1.2',
    systemPrompt: [
      '{{agentName}} {{agent.name}} {{agent.slug}} {{agent.description}} {{agent.version}} at {{organizationName}}',
      '{{now}} {{today}} {{weekday}} {{timezone}} {{currentTime}} {{timestamp}}',
      '{{threadId}} {{message}} {{threadContext.channel}} {{threadContext.params.plan}}',
      '{{entityTypes}} {{roles}}',
    ].join('\n'),
  };
  let db: Db;

  beforeAll(async () => {
    db = await openTestDatabase(createDb);
    await prismaOf(db).organization.create({
      data: { id: 'org_1', no: scope.tenant, slug: 'acme', name: 'Acme', timezone: 'America/Lima' },
    });
    const here = { ...place, slug: 'order', name: 'Order' };
    await prismaOf(db).entityType.create({
      data: { ...here, id: 't1', schema: { total: 'number' }, searchFields: [] },
    });
    await prismaOf(db).entityType.create({
      data: { ...here, environment: 'production', id: 't2', schema: {} },
    });
    await prismaOf(db).role.create({
      data: { ...here, id: 'r1', slug: 'clerk', name: 'Clerk', definition: {} },
    });
  });

  afterAll(() => db.close());

  it('provides every documented variable', async () => {
    const variables = await loadPromptVariables(db, scope, {
      agent,
      channel: 'api',
      params: { plan: 'gold' },
      threadId: 'thr_1',
      message: 'Hi',
      now: new Date('2026-11-21T01:02:03.004Z'),
    });
    const { text, errors } = await compileTemplate(agent.systemPrompt, { variables });
    expect(errors).toEqual([]);
    expect(text.split('\n')).toEqual([
      'Helper Helper helper Helps 1.2 at Acme',
      '2026-11-20T20:02:03-05:00 2026-11-20 Friday America/Lima 2026-11-21T01:02:03.004Z 1795222923004',
      'thr_1 Hi api gold',
      '[{"slug":"order","name":"Order","schema":{"total":"number"},"searchFields":[]}] [{"slug":"clerk","name":"Clerk"}]',
    ]);
  });

  it('leaves out absent values and the prompt itself', async () => {
    const subject = { agent: { ...agent, systemPrompt: 'x' }, channel: 'widget', params: {} };
    const variables = await loadPromptVariables(db, scope, subject);
    expect(Object.keys(variables)).not.toEqual(expect.arrayContaining(['threadId']));
    expect(variables).not.toHaveProperty('entityTypes');
    expect(variables.agent).not.toHaveProperty('systemPrompt');
  });
});
