import type { ResultOf } from '@parley/client/manage';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatExact, useLanguage } from '../../i18n';

type Row = ResultOf<'getStatistics'>['data'][number];
interface ChartProps {
  title: string;
  /** The list that the figures count. */
  to: LinkProps;
  total?: string;
  rows: readonly Row[];
  series: {
    name: string;
    colour: 'accent' | 'failed' | 'person' | 'done';
    value: (row: Row) => number | null;
  }[];
  format: (value: number) => string;
}

const heightPx = 140;
/** Steps of the vertical axis: 1, 2, 5, 10, 20, … All figures are whole numbers. */
const wholeSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

/** Steps of the time axis, in seconds. */
const hourSteps = [1, 2, 3, 6, 12].map((count) => count * 3_600);
const daySteps = [1, 2, 7, 14, 28].map((count) => count * 86_400);

/** Lines over time. The figures are also a table, for those who do not see the lines. */
export function Chart({ title, to, total, rows, series, format }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const language = useLanguage();
  useEffect(() => {
    const element = box.current!;
    const style = getComputedStyle(element);
    const colourOf = (name: string) => style.getPropertyValue(`--color-${name}`);
    const axis = {
      stroke: () => getComputedStyle(element).color,
      grid: { show: false },
      ticks: { show: false },
      font: '11px system-ui',
      size: 28,
    };
    const isHours = rows.length <= 48;
    const days = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' });
    const hours = new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit' });
    const nameOf = (at: Date) => (isHours && at.getHours() !== 0 ? hours : days).format(at);
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height: heightPx,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [
          {
            ...axis,
            space: 64,
            incrs: isHours ? hourSteps : daySteps,
            values: (_, at) => at.map((seconds) => nameOf(new Date(seconds * 1_000))),
          },
          { ...axis, size: 56, space: 40, incrs: wholeSteps, values: (_, at) => at.map(format) },
        ],
        series: [
          {},
          ...series.map(({ name, colour, value }) => ({
            label: name,
            stroke: () => lightOrDark(element, colourOf(colour)),
            width: 1.5,
            points: { show: rows.filter((row) => value(row) !== null).length < 3 },
          })),
        ],
      },
      [rows.map(({ start }) => start / 1_000), ...series.map(({ value }) => rows.map(value))],
      element,
    );
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: heightPx }),
    );
    observer.observe(element);
    const repaint = () => chart.redraw();
    const media = matchMedia('(prefers-color-scheme: dark)');
    media.addEventListener('change', repaint);
    return () => {
      observer.disconnect();
      media.removeEventListener('change', repaint);
      chart.destroy();
    };
  }, [rows, series, format, language]);
  return (
    <figure className="relative min-w-0">
      <figcaption className="mb-1 flex flex-wrap items-baseline gap-x-3">
        <Link {...to} className="font-medium hover:underline">
          {title}
        </Link>
        {total && <span className="text-n11 tabular-nums">{total}</span>}
        {series.length > 1 && (
          <span className="ml-auto flex gap-3 text-xs text-n11">
            {series.map(({ name, colour }) => (
              <span key={name} className="inline-flex items-center gap-1">
                <span className="h-0.5 w-3" style={{ background: `var(--color-${colour})` }} />
                {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div ref={box} aria-hidden className="h-35 text-n11" />
      <div className="sr-only">
        <table>
          <caption>{title}</caption>
          <tbody>
            {rows.map((row) => (
              <tr key={row.start}>
                <th scope="row">{formatExact(row.start)}</th>
                {series.map(({ name, value }) => (
                  <td
                    key={name}
                  >{`${name}: ${value(row) === null ? '–' : format(value(row)!)}`}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** A canvas does not know `light-dark()`: an element resolves the colour of its theme. */
function lightOrDark(element: HTMLElement, colour: string): string {
  const probe = element.appendChild(document.createElement('i'));
  probe.style.color = colour;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
