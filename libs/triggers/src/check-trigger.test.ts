import type { Json, TriggerDefinition } from '@parley/contracts';
import { triggerProblems } from './check-trigger';

const trigger = (more: Partial<TriggerDefinition>): TriggerDefinition => ({
  slug: 't',
  name: 'T',
  on: { entityType: 'order', action: 'created' },
  actions: [{ tool: 'entity.get', args: {} }],
  ...more,
});
const problems = (more: Partial<TriggerDefinition>) =>
  triggerProblems(trigger(more)).map(({ path, message }) => `${path}: ${message}`);
const args = (value: string) => problems({ actions: [{ tool: 'x', args: { deep: [{ value }] } }] });

test.each([
  '{{trigger.data.any.thing}}',
  '{{trigger.previousStatus}} {{trigger.runId}}',
  '{{today}} {{currentTime}} {{organizationName}}',
  '{{trigger.bogus | "nothing"}}',
  '{{entity.get({"type":"order","id":"{{trigger.entityId}}"})}}',
])('%s is accepted', (value) => expect(args(value)).toEqual([]));

test.each([
  [
    '{{trigger.bogus}}',
    /^actions\.0\.args: \{\{trigger\.bogus\}\} is unknown; fields of trigger: slug, /,
  ],
  ['{{data.total}}', /^actions\.0\.args: \{\{data\.total\}\} is unknown; known names: .*trigger/],
  ['{{steps.later.id}}', /names no earlier step; earlier steps: none$/],
  ['{{trigger.data.x | 5}}', /is not a template; templates are .*"fallback"/],
  ['{{entity.get({"id":"{{trigger.nope}}"})}}', /\{\{trigger\.nope\}\} is unknown/],
  ['{{entity.get({broken})}}', /is not a template/],
  [
    'Order {{trigger.data.number',
    /^actions\.0\.args: has an unclosed template: \{\{trigger\.data\.number$/,
  ],
  ['{{trigger.data.a}} {{', /has an unclosed template: \{\{$/],
  ['{{entity.get({"id":"{{trigger.entityId"})}}', /unclosed template: \{\{trigger\.entityId$/],
])('%s is refused', (value, message) =>
  expect(args(value)).toEqual([expect.stringMatching(message)]),
);

test('a template cannot be all of the filters of a query', () => {
  const query = (filters: Json) =>
    problems({ actions: [{ tool: 'entity.query', args: { type: 'order', filters } }] });
  expect(query({ 'data.x': '{{trigger.data.x}}' })).toEqual([]);
  expect(query('{{trigger.data.filters}}')).toEqual([
    'actions.0.args: filters must name each field: a template cannot be all of the filters',
  ]);
  expect(args('{{entity.query({"type":"order","filters":"{{trigger.data}}"})}}')).toEqual([
    'actions.0.args: filters must name each field: a template cannot be all of the filters',
  ]);
});

test('later steps can name a step by its unique name', () => {
  const step = (as: string | undefined, value: string) => ({
    tool: 'x',
    args: { value },
    ...(as && { as }),
  });
  expect(
    problems({ actions: [step('first', ''), step(undefined, '{{first.id}} {{steps.first.id}}')] }),
  ).toEqual([]);
  expect(problems({ actions: [step(undefined, '{{first.id}}'), step('first', '')] })).toHaveLength(
    1,
  );
  expect(
    problems({ actions: [step('a', ''), step('a', ''), step('trigger', ''), step('q q', '')] }),
  ).toEqual([
    'actions.1.as: "a" is the name of an earlier step',
    'actions.2.as: "trigger" is the name of a variable of templates',
    expect.stringMatching(/^actions\.3\.as: must be letters/),
  ]);
});

test('names that every object inherits are no variables', () => {
  const step = (as: string | undefined, value: string) => ({
    tool: 'x',
    args: { value },
    ...(as && { as }),
  });
  for (const name of ['constructor', 'toString', '__proto__']) {
    expect(problems({ actions: [step(name, ''), step(undefined, `{{${name}.id}}`)] })).toEqual([]);
    expect(problems({ actions: [step(undefined, `{{${name}.id}}`)] })).toEqual([
      expect.stringMatching('is unknown'),
    ]);
  }
});

test('times of a schedule are dates, fields or templates, and durations are at most 100 years', () => {
  expect(problems({ schedule: { at: 'data.startsAt', offset: '-1h' } })).toEqual([]);
  expect(problems({ schedule: { at: '{{trigger.data.startsAt}}' } })).toEqual([]);
  expect(problems({ schedule: { at: '2031-01-01' } })).toEqual([]);
  expect(problems({ schedule: { at: '2030-02-30' } })).toEqual([
    expect.stringMatching(/"2030-02-30" is neither/),
  ]);
  expect(problems({ schedule: { at: '{{entity.get({"id":"x"})}}' } })).toEqual([
    'schedule.at: cannot call a tool: {{entity.get({"id":"x"})}}',
  ]);
  expect(problems({ schedule: { at: 'soon' } })).toEqual([
    expect.stringMatching(/^schedule\.at: "soon" is neither/),
  ]);
  expect(problems({ schedule: { at: '{{nope}}' } })).toEqual([
    expect.stringMatching(/^schedule\.at: \{\{nope\}\}/),
  ]);
  expect(problems({ schedule: { delay: 'a while' } })).toEqual([
    expect.stringMatching(/^schedule\.delay: "a while"/),
  ]);
  expect(problems({ schedule: { delay: '999999999w' } })).toEqual([
    expect.stringMatching(/longer than 100 years/),
  ]);
});

test('a cron schedule must be due some time, in a known time zone', () => {
  const cron = (schedule: string, timezone?: string) =>
    problems({ on: { schedule, ...(timezone && { timezone }) } });
  expect(cron('0 9 * * 1-5', 'America/Santiago')).toEqual([]);
  expect(cron('0 9 * *')).toEqual([expect.stringMatching(/^on\.schedule: must have 5 fields/)]);
  expect(cron('0 0 31 2 *')).toEqual(['on.schedule: describes a time that never occurs']);
  expect(cron('0 0 31 2,4 *')).toEqual(['on.schedule: describes a time that never occurs']);
  expect(cron('0 0 30,31 2 *')).toEqual(['on.schedule: describes a time that never occurs']);
  for (const some of ['0 0 29 2 *', '0 0 31 2,3 *', '0 0 31 2,4 1', '0 0 31 4 */2'])
    expect(cron(some)).toEqual([]);
  expect(cron('0 9 * * *', 'Santiago')).toEqual(['on.timezone: "Santiago" is not a time zone']);
});

test('the number of problems of an action is limited', () => {
  expect(
    problems({ actions: [{ tool: 'x', args: { all: Array(200_000).fill('{{nope}}') } }] }),
  ).toHaveLength(100);
});
