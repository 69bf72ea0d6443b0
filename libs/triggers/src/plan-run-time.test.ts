import type { TriggerDefinition } from '@parley/contracts';
import { planRunTime } from './plan-run-time';

const dueAt = async (
  schedule: TriggerDefinition['schedule'],
  startsAt: string,
  timezone: string,
) => {
  const planned = await planRunTime(schedule, {
    triggerSlug: 'reminder',
    triggerName: 'Reminder',
    entityId: 'ent_1',
    entityType: 'appointment',
    action: 'created',
    change: { data: { startsAt } },
    timestamp: Date.UTC(2027, 0),
    organization: { name: 'Shop', timezone },
  });
  return planned.ok ? new Date(planned.runAtMs).toISOString() : planned.problem;
};

test.each([
  // The clock of Santiago goes from 00:00 to 01:00 on 5 September, and from 24:00 to
  // 23:00 on 3 April.
  ['-1d', '2027-09-05T10:00', 'America/Santiago', '2027-09-04T14:00:00.000Z'],
  ['-1w', '2027-09-05T10:00', 'America/Santiago', '2027-08-29T14:00:00.000Z'],
  ['-24h', '2027-09-05T10:00', 'America/Santiago', '2027-09-04T13:00:00.000Z'],
  ['-1d2h', '2027-09-05T10:00', 'America/Santiago', '2027-09-04T12:00:00.000Z'],
  ['1d', '2027-09-04T00:30', 'America/Santiago', '2027-09-05T04:00:00.000Z'],
  ['-1d', '2027-04-04T10:00', 'America/Santiago', '2027-04-03T13:00:00.000Z'],
  ['-0.5d', '2027-09-05T10:00', 'America/Santiago', '2027-09-05T01:00:00.000Z'],
  ['-1d', '2027-03-14T10:00Z', 'America/New_York', '2027-03-13T11:00:00.000Z'],
])('%s from %s in %s is %s', async (offset, startsAt, timezone, expected) =>
  expect(await dueAt({ at: 'data.startsAt', offset }, startsAt, timezone)).toBe(expected),
);

test('a reminder on a day without midnight is not due the day before', async () => {
  const schedule = { at: 'data.startsAt' };
  expect(await dueAt(schedule, '2027-09-05', 'America/Santiago')).toBe('2027-09-05T04:00:00.000Z');
});
