import { untilAvailable } from './until-available';

const lines: string[] = [];
const log = {
  warn: (_fields: object, text: string) => lines.push(text),
  info: (_fields: object, text: string) => lines.push(text),
};
const dependency = {
  name: 'PostgreSQL',
  log,
  isUnavailable: (error: unknown) => (error as Error).message === 'refused',
  retryMs: 1,
};
beforeEach(() => lines.splice(0));

it('repeats the work until the dependency is available, and logs once that it waits', async () => {
  let attempts = 0;
  const answer = await untilAvailable(dependency, async () => {
    if (++attempts < 4) throw new Error('refused');
    return attempts;
  });
  expect(answer).toBe(4);
  expect(lines).toEqual(['waiting for a dependency', 'the dependency is available']);
});

it('logs nothing when the dependency is available', async () => {
  await expect(untilAvailable(dependency, async () => null)).resolves.toBeNull();
  expect(lines).toEqual([]);
});

it('throws errors that do not mean that the dependency is unavailable', async () => {
  await expect(
    untilAvailable(dependency, async () => {
      throw new Error('wrong password');
    }),
  ).rejects.toThrow('wrong password');
});
