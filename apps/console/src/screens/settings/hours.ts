import type { ResultOf } from '@parley/client/manage';

export type Organization = ResultOf<'getOrganization'>;
export type OpeningHours = Organization['conversations']['openingHours'];
export type Day = OpeningHours[number]['days'][number];

export const days: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

export interface Range {
  from: string;
  to: string;
}
/** The ranges of each day, as the editor shows them. */
export type Week = Record<Day, readonly Range[]>;

export const toWeek = (hours: OpeningHours): Week =>
  Object.fromEntries(
    days.map((day) => [
      day,
      hours
        .filter((entry) => entry.days.includes(day))
        .map(({ from, to }) => ({ from, to }))
        .sort((a, b) => a.from.localeCompare(b.from)),
    ]),
  ) as Record<Day, Range[]>;

/** As the API takes them: one entry for all days with the same range. */
export function fromWeek(week: Week): OpeningHours {
  const entries = new Map<string, OpeningHours[number]>();
  for (const day of days)
    for (const { from, to } of week[day]) {
      const entry = entries.get(`${from} ${to}`) ?? { days: [], from, to };
      if (!entry.days.includes(day)) entry.days.push(day);
      entries.set(`${from} ${to}`, entry);
    }
  return [...entries.values()];
}
