import { createProblemLog } from './export-problems';

it('logs one line a minute, with the number of problems since the last', () => {
  const lines: object[] = [];
  let nowMs = 0;
  const report = createProblemLog(
    { warn: (fields: object) => void lines.push(fields) },
    () => nowMs,
  );
  report('a'.repeat(1_000));
  nowMs = 59_999;
  report('b');
  report('c');
  nowMs = 60_000;
  report('d');
  expect(lines).toEqual([
    { reason: 'a'.repeat(300), unlogged: 0 },
    { reason: 'd', unlogged: 2 },
  ]);
});
