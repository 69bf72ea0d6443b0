import { type ConversationSettings, weekdays } from '@parley/contracts';

/**
 * Whether people answer at a time: always without opening hours. Hours that end before they begin
 * end on the next day.
 */
export function isOpen(
  hours: ConversationSettings['openingHours'],
  timezone: string,
  at: Date,
): boolean {
  if (hours.length === 0) return true;
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string) => parts.find((one) => one.type === type)!.value;
  const today = weekdays.findIndex((day) => day === part('weekday').toLowerCase());
  const yesterday = weekdays[(today + 6) % 7]!;
  const time = `${part('hour')}:${part('minute')}`;
  return hours.some(({ days, from, to }) => {
    if (from < to) return days.includes(weekdays[today]!) && time >= from && time < to;
    return (
      (days.includes(weekdays[today]!) && time >= from) || (days.includes(yesterday) && time < to)
    );
  });
}
