import { parseCsv } from '@parley/rows';
import { refusedCsv } from './refused-csv';

const titles = { lineTitle: 'línea', reasonTitle: 'motivo' };

test('spreadsheets know the letters by the mark, and run no reason as a formula', () => {
  const text = refusedCsv(
    [
      { line: 2, reason: 'a, "b"\nc' },
      { line: 10, reason: '=HYPERLINK("https://evil.example")' },
    ],
    titles,
  );
  expect(text.startsWith('\uFEFFlínea,motivo\n')).toBe(true);
  expect(parseCsv(text).map(({ cells }) => cells)).toEqual([
    ['línea', 'motivo'],
    ['2', 'a, "b"\nc'],
    ['10', '\'=HYPERLINK("https://evil.example")'],
  ]);
});

test('without refused lines it has its header', () => {
  expect(refusedCsv([], titles)).toBe('\uFEFFlínea,motivo\n');
});
