import { fitProcesses, neededBytes } from './fit-processes';

const gibibyte = 1024 ** 3;

it('keeps the maximum where the memory is sufficient, and lowers it where it is not', () => {
  expect(fitProcesses(16, neededBytes(16))).toBe(16);
  expect(fitProcesses(16, neededBytes(16) - 1)).toBe(15);
  expect(fitProcesses(16, 64 * gibibyte)).toBe(16);
  const fitting = fitProcesses(16, gibibyte * 2);
  expect(neededBytes(fitting)).toBeLessThanOrEqual(gibibyte * 2);
  expect(neededBytes(fitting + 1)).toBeGreaterThan(gibibyte * 2);
});

it('keeps one process where the memory is too small for nested calls', () => {
  expect(fitProcesses(16, gibibyte)).toBe(1);
});

it('refuses to start where not even one process fits, and says how much is needed', () => {
  expect(() => fitProcesses(16, 0.375 * gibibyte)).toThrow(
    'The tool executor needs 416 MiB of memory for one sandbox process, and has 384 MiB',
  );
});
