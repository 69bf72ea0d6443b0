import {
  defineAgent,
  defineData,
  defineRole,
  defineRouter,
  defineTools,
  defineTrigger,
  kindOf,
} from './define';
import { DefinitionError } from './definition-error';

function problemsOf(make: () => unknown): string[] {
  try {
    make();
  } catch (error) {
    if (error instanceof DefinitionError) return error.message.split('\n');
    throw error;
  }
  return [];
}

/** A value as a JavaScript file passes it, without type checks. */
const untyped = <T>(value: unknown): T => value as T;

test('a valid definition is returned unchanged and has a kind', () => {
  const agent = { slug: 'helper', name: 'Helper', systemPrompt: 'Hi', tools: ['entity.query'] };
  expect(defineAgent(agent)).toEqual(agent);
  expect(kindOf(defineAgent(agent))).toBe('agents');
  expect(kindOf(defineData({ slug: 'order', name: 'Order', schema: { total: 'number' } }))).toBe(
    'entityTypes',
  );
  expect(kindOf(defineRole({ slug: 'r', name: 'R', policies: [] }))).toBe('roles');
  expect(
    kindOf(defineRouter({ slug: 'r', name: 'R', mode: 'classify', agents: ['a'], fallback: 'a' })),
  ).toBe('routers');
  expect(kindOf({ ...agent })).toBeNull();
});

test('every invalid field is reported', () => {
  const agent = untyped<Parameters<typeof defineAgent>[0]>({
    slug: 'helper',
    name: '',
    sytemPrompt: 'Hi',
    tools: [1],
  });
  expect(problemsOf(() => defineAgent(agent))).toEqual([
    'helper: name must not be empty',
    'helper: systemPrompt is required',
    'helper: tools.0 must be a string',
    'helper: sytemPrompt is not a known field',
  ]);
});

test.each(['http://x.example/', '*', 'a b', 'api.example.com/path', ''])(
  '"%s" is no allowed host',
  (host) => {
    const tool = {
      name: 'x',
      description: 'x',
      parameters: {},
      handler: () => null,
      allowedHosts: ['*.example.com', host],
    };
    expect(problemsOf(() => defineTools([tool]))).toEqual([
      'x: allowedHosts.1 must be a host such as api.example.com or *.example.com',
    ]);
  },
);

test('a problem in a union is reported for the alternative that was probably meant', () => {
  const trigger = (on: unknown) =>
    untyped<Parameters<typeof defineTrigger>[0]>({
      slug: 't',
      name: 'T',
      on,
      actions: [{ tool: 'a', args: {} }],
    });
  expect(problemsOf(() => defineTrigger(trigger({ entityType: 'order', action: 'made' })))).toEqual(
    ['t: on.action must be one of "created", "updated", "deleted"'],
  );
  expect(
    problemsOf(() => defineTrigger(trigger({ schedule: '* * * * *', timezon: 'UTC' }))),
  ).toEqual(['t: on.timezon is not a known field']);
});

test('a misspelled operator is refused', () => {
  const scopeRules = [{ entityType: 'order', field: 'data.owner', operator: '$equals', value: 1 }];
  const role = untyped<Parameters<typeof defineRole>[0]>({
    slug: 'r',
    name: 'R',
    policies: [],
    scopeRules,
  });
  expect(problemsOf(() => defineRole(role))).toEqual([
    expect.stringMatching(/^r: scopeRules\.0\.operator /),
  ]);
});

describe('the handler of a tool', () => {
  const tool = { name: 'shop.add', description: 'Adds', parameters: { type: 'object' } };
  const run = async (code: string, ...values: unknown[]) => {
    const names = ['args', 'context', 'parley', 'fetch'];
    const body = new Function(...names, `return (async (${names}) => { ${code} })(${names})`);
    return body(...values);
  };

  test.each([
    ['an arrow function', { handler: async ({ a, b }: { a: number; b: number }) => a + b }],
    [
      'a method',
      {
        async handler({ a, b }: { a: number; b: number }) {
          return a + b;
        },
      },
    ],
    [
      'a function',
      {
        handler: function add({ a, b }: { a: number; b: number }) {
          return a + b;
        },
      },
    ],
  ])('may be %s', async (_, { handler }) => {
    const [defined] = defineTools([{ ...tool, handler }]);
    expect(Object.keys(defined!)).toEqual(['name', 'description', 'parameters', 'handlerCode']);
    expect(await run(defined!.handlerCode, { a: 1, b: 2 })).toBe(3);
    expect(kindOf(defined)).toBe('tools');
  });

  test('may be text, and is refused without a source', () => {
    expect(defineTools([{ ...tool, handlerCode: 'return 1' }])[0]!.handlerCode).toBe('return 1');
    expect(problemsOf(() => defineTools([{ ...tool, handler: (() => 1).bind(null) }]))).toEqual([
      'shop.add: handler must be a function written in this file, not a built-in or bound function',
    ]);
    expect(problemsOf(() => defineTools([untyped({ ...tool })]))).toEqual([
      'shop.add: handlerCode is required',
    ]);
  });
});
