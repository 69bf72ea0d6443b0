import { findRoute } from './routes';

test('the callback of the payment provider is answered within 10 s', () => {
  expect(findRoute('/webhook/flow', 'POST')).toMatchObject({
    fixedReply: { received: true },
    deadlineMs: 8_000,
  });
});

describe('findRoute', () => {
  it.each([
    ['/v1/chat', 'chat'],
    ['/v1/chat/', 'chat'],
    ['/v1/agents/shop-assistant/chat', 'chat'],
    ['/v1/routers/front-desk/chat', 'chat'],
    ['/v1/compile-prompt', 'chat'],
    ['/v1/run-tool', 'chat'],
    ['/v1/fire-trigger', 'chat'],
    ['/v1/mcp', 'chat'],
    ['/v1/entity-types', 'data'],
    ['/v1/data/order', 'data'],
    ['/v1/data/order/ent_1', 'data'],
    ['/v1/data/%C3%B1and%C3%BA/query', 'data'],
    ['/v1/sync', 'data'],
    ['/v1/sync/state', 'data'],
    ['/webhook/clerk', 'webhook-ingest'],
    ['/webhook/kapso/messages', 'webhook-ingest'],
    ['/execute', 'tool-executor'],
    ['/validate', 'tool-executor'],
  ])('routes %s to %s', (path, upstream) => {
    expect(findRoute(path, 'POST')?.upstream).toBe(upstream);
  });

  it.each([
    '/',
    '',
    '*',
    '/v1',
    '/v1/',
    '/v1/chatter',
    '/v1/database',
    '/V1/chat',
    '/v1/Chat',
    '/webhooks/clerk',
    '/executes',
    '/metrics',
    '/livez',
    '/readyz',
    '/internal/tool-calls',
    '/INTERNAL/tool-calls',
    '//internal/tool-calls',
    '/v1/data/../../internal/tool-calls',
    '/v1/data/..%2f..%2finternal/tool-calls',
    '/v1/data/%2e%2e/%2E%2e/internal/tool-calls',
    '/v1/data/.%2e/internal',
    '/v1/data/./order',
    '/v1/chat/..',
    '/v1/chat/.',
    '/v1//chat',
    '/v1/chat%2finternal',
    '/v1%2fchat',
    '/v1/chat%5c..%5cinternal',
    '/v1/chat\\..\\internal',
    '/v1/data/order%00',
    '/v1/data/a b',
    '/v1/data/ñ',
    '/v1/chat#/internal',
  ])('finds no route for %s', (path) => {
    expect(findRoute(path, 'POST')).toBeUndefined();
  });
});

test.each([
  ['GET', '/v1/agents', 'manage'],
  ['GET', '/v1/agents/', 'manage'],
  ['HEAD', '/v1/agents/shop-assistant', 'manage'],
  ['GET', '/v1/agents/chat', 'manage'],
  ['GET', '/v1/routers', 'manage'],
  ['POST', '/v1/agents/shop-assistant/chat', 'chat'],
  ['OPTIONS', '/v1/agents/shop-assistant/chat', 'chat'],
  ['GET', '/v1/agents/shop-assistant/chat', 'chat'],
  ['POST', '/v1/agents/chat', 'chat'],
  ['POST', '/v1/routers/front-desk/chat', 'chat'],
  ['GET', '/v1/routers/front-desk/chat', 'chat'],
  ['GET', '/v1/tools', 'manage'],
  ['GET', '/v1/tool-secrets', 'manage'],
  ['POST', '/v1/integrations/flow/test', 'manage'],
])(
  'reads of definitions are routed to manage, messages to chat: %s %s to %s',
  (method, path, upstream) => {
    expect(findRoute(path, method)?.upstream).toBe(upstream);
  },
);
