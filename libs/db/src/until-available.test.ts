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

it('tries until the dependency answers, and says once that it waits', async () => {
  let tries = 0;
  const answer = await untilAvailable(dependency, async () => {
    if (++tries < 4) throw new Error('refused');
    return tries;
  });
  expect(answer).toBe(4);
  expect(lines).toEqual(['waiting for a dependency', 'the dependency answers']);
});

it('says nothing of a dependency that is there', async () => {
  await expect(untilAvailable(dependency, async () => null)).resolves.toBeNull();
  expect(lines).toEqual([]);
});

it('does not wait for what waiting cannot mend', async () => {
  await expect(
    untilAvailable(dependency, async () => {
      throw new Error('wrong password');
    }),
  ).rejects.toThrow('wrong password');
});
