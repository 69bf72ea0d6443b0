import { chatBodySchema } from './chat';
import { listEntitiesQuerySchema, queryEntitiesBodySchema, searchEntitiesBodySchema } from './data';

const firstProblem = (result: { success: boolean; error?: { issues: { message: string }[] } }) =>
  result.error?.issues[0]?.message;

it('refuses params of more than 32 KiB of JSON, and accepts fewer', () => {
  const parse = (length: number) =>
    chatBodySchema.safeParse({
      agentId: 'a',
      message: 'Hi',
      threadContext: { params: { note: 'x'.repeat(length) } },
    });
  expect(parse(32_000).success).toBe(true);
  expect(firstProblem(parse(33_000))).toBe('must have at most 32768 bytes of JSON');
});

describe('page sizes', () => {
  it.each([
    [undefined, 50],
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['5000', 100],
  ])('limit=%s in a query string is read as %d', (limit, expected) => {
    expect(listEntitiesQuerySchema.parse({ limit }).limit).toBe(expected);
  });

  it.each(['0', '-1', '1.5', '1e2', 'ten', '', ' 5'])(
    'refuses limit=%j in a query string',
    (limit) => {
      expect(firstProblem(listEntitiesQuerySchema.safeParse({ limit }))).toBe(
        'limit must be a whole number of at least 1',
      );
    },
  );

  it('must be numbers in a body, and have a default for each endpoint', () => {
    expect(queryEntitiesBodySchema.parse({}).limit).toBe(50);
    expect(searchEntitiesBodySchema.parse({ query: 'x' }).limit).toBe(20);
    expect(queryEntitiesBodySchema.parse({ limit: 400 }).limit).toBe(100);
    expect(queryEntitiesBodySchema.safeParse({ limit: '5' }).success).toBe(false);
  });
});

describe('error texts that are part of the API', () => {
  it.each([{}, { message: '' }, { message: '  ' }, { message: 5 }, { message: null }])(
    'chat body %j',
    (body) => {
      expect(firstProblem(chatBodySchema.safeParse(body))).toBe('message is required');
    },
  );

  it('chat body with stream', () => {
    const body = { message: 'hi', agentId: 'a' };
    expect(firstProblem(chatBodySchema.safeParse({ ...body, stream: true }))).toBe(
      'A response of the chat is not streamed. POST /v1/executions streams it',
    );
    for (const stream of [false, null, 'true', 1])
      expect(chatBodySchema.safeParse({ ...body, stream }).success).toBe(true);
  });

  it.each([{}, { query: '' }, { query: ' \t' }, { query: 7 }])('search body %j', (body) => {
    expect(firstProblem(searchEntitiesBodySchema.safeParse(body))).toBe('query is required');
  });
});
