import type { TriggerDefinition } from '@parley/contracts';
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
  'a lone {{ is text',
])('%s can be read', (value) => expect(args(value)).toEqual([]));

test.each([
  ['{{trigger.bogus}}', /^actions\.0\.args: \{\{trigger\.bogus\}\} is not known; trigger has slug, /],
  ['{{data.total}}', /^actions\.0\.args: \{\{data\.total\}\} is not known; there are .*trigger/],
  ['{{steps.later.id}}', /names no earlier step; named so far: none$/],
  ['{{trigger.data.x | 5}}', /cannot be read; templates are .*"fallback"/],
  ['{{entity.get({"id":"{{trigger.nope}}"})}}', /\{\{trigger\.nope\}\} is not known/],
  ['{{entity.get({broken})}}', /cannot be read/],
])('%s is refused', (value, message) => expect(args(value)).toEqual([expect.stringMatching(message)]));

test('a step is known to those after it, under a name of its own', () => {
  const step = (as: string | undefined, value: string) => ({ tool: 'x', args: { value }, ...(as && { as }) });
  expect(problems({ actions: [step('first', ''), step(undefined, '{{first.id}} {{steps.first.id}}')] })).toEqual([]);
  expect(problems({ actions: [step(undefined, '{{first.id}}'), step('first', '')] })).toHaveLength(1);
  expect(problems({ actions: [step('a', ''), step('a', ''), step('trigger', ''), step('q q', '')] })).toEqual([
    'actions.1.as: "a" is the name of an earlier step',
    'actions.2.as: "trigger" stands for something else in templates',
    expect.stringMatching(/^actions\.3\.as: must be letters/),
  ]);
});

test('times', () => {
  expect(problems({ schedule: { at: 'data.startsAt', offset: '-1h' } })).toEqual([]);
  expect(problems({ schedule: { at: '{{trigger.data.startsAt}}' } })).toEqual([]);
  expect(problems({ schedule: { at: '2031-01-01' } })).toEqual([]);
  expect(problems({ schedule: { at: 'soon' } })).toEqual([expect.stringMatching(/^schedule\.at: "soon" is neither/)]);
  expect(problems({ schedule: { at: '{{nope}}' } })).toEqual([expect.stringMatching(/^schedule\.at: \{\{nope\}\}/)]);
  expect(problems({ schedule: { delay: 'a while' } })).toEqual([expect.stringMatching(/^schedule\.delay: "a while"/)]);
  expect(problems({ schedule: { delay: '999999999w' } })).toEqual([expect.stringMatching(/longer than 100 years/)]);
});
