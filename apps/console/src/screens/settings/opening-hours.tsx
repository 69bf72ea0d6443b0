import { Plus, X } from 'lucide-react';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Check } from '../../parts/fields';
import { type Day, type Range, type Week, days } from './hours';
import { settingsCatalog } from './texts';

const usual: Range = { from: '09:00', to: '18:00' };
const workdays: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri'];

/** The week as it is edited; null for always. */
export function OpeningHoursEditor({
  week,
  onChange,
}: {
  week: Week | null;
  onChange: (week: Week | null) => void;
}) {
  const texts = useTexts(settingsCatalog);
  const first: Week = Object.fromEntries(
    days.map((day) => [day, workdays.includes(day) ? [usual] : []]),
  ) as never;
  return (
    <fieldset>
      <legend className="text-n11">{texts.hours}</legend>
      <p className="text-xs text-n10">{texts.hoursHint}</p>
      <div className="flex flex-wrap gap-x-6">
        <Check
          type="radio"
          name="hours"
          label={texts.always}
          isOn={week === null}
          onChange={() => onChange(null)}
        />
        <Check
          type="radio"
          name="hours"
          label={texts.onHours}
          isOn={week !== null}
          onChange={() => onChange(week ?? first)}
        />
      </div>
      {week !== null && (
        <>
          <ul className="mt-2 divide-y divide-n4 border-y border-n4">
            {days.map((day) => (
              <DayRow
                key={day}
                day={day}
                ranges={week[day]}
                onChange={(ranges) => onChange({ ...week, [day]: ranges })}
              />
            ))}
          </ul>
          <Button
            look="quiet"
            className="mt-1"
            onClick={() =>
              onChange({ ...week, ...Object.fromEntries(workdays.map((day) => [day, week.mon])) })
            }
          >
            {texts.copyDown}
          </Button>
        </>
      )}
    </fieldset>
  );
}

interface DayRowProps {
  day: Day;
  ranges: readonly Range[];
  onChange: (ranges: readonly Range[]) => void;
}

function DayRow({ day, ranges, onChange }: DayRowProps) {
  const texts = useTexts(settingsCatalog);
  const name = texts.days[day];
  const change = (at: number, part: Partial<Range>) =>
    onChange(ranges.map((range, index) => (index === at ? { ...range, ...part } : range)));
  const box = 'tap h-8 rounded border border-n8 bg-n1 px-1.5 tabular-nums';
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-1.5">
      <span className="w-24 shrink-0 py-1.5">{name}</span>
      <div className="min-w-0 flex-1 space-y-1">
        {ranges.length === 0 && <p className="py-1.5 text-n10">{texts.closed}</p>}
        {ranges.map(({ from, to }, at) => (
          // A range has no name of its own; it is the nth of its day.
          <div key={at} className="flex flex-wrap items-center gap-2">
            <input
              type="time"
              required
              aria-label={texts.from(name)}
              value={from}
              onChange={({ target }) => change(at, { from: target.value })}
              className={box}
            />
            <span className="text-n10">{texts.until}</span>
            <input
              type="time"
              required
              aria-label={texts.to(name)}
              value={to}
              onChange={({ target }) => change(at, { to: target.value })}
              className={box}
            />
            {from !== '' && to !== '' && to <= from && (
              <span className="text-xs text-n10">{texts.nextDay}</span>
            )}
            <Button
              look="quiet"
              icon={X}
              label={texts.removeHours(name)}
              onClick={() => onChange(ranges.filter((_, index) => index !== at))}
            />
          </div>
        ))}
      </div>
      <Button
        look="quiet"
        icon={Plus}
        label={texts.addHours(name)}
        onClick={() => onChange([...ranges, usual])}
      />
    </li>
  );
}
