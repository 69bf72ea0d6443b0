import { operationsOf } from '@parley/contracts';
import request from 'supertest';
import { silentLogger } from '../process/logger';
import { createApp } from './create-app';
import { unauthorized } from './errors';
import type { Exchange } from './exchange';
import { type Handler, serve } from './serve';

const execute: Handler<'execute'> = async ({ body }) => ({
  result: body.args,
  _meta: { durationMs: 1 },
});
const validate: Handler<'validate'> = async () => ({ valid: true });
const executor = ({ request }: Pick<Exchange, 'request'>) => {
  if (request.headers.authorization !== 'Bearer token') throw unauthorized();
};

const app = createApp({
  log: silentLogger(),
  checkResponses: true,
  identify: async () => null,
  routes: serve(operationsOf.executor, { validate, execute }, { executor }),
});

test('each operation is handled by the handler with its id', async () => {
  const send = (path: string, body: object) =>
    request(app).post(path).set('Authorization', 'Bearer token').send(body).expect(200);
  expect((await send('/execute', { handlerCode: 'x', args: { a: 1 } })).body).toMatchObject({
    result: { a: 1 },
  });
  expect((await send('/validate', { handlerCode: 'x' })).body).toEqual({ valid: true });
});

test('an operation that requires a token is checked by the guard of that token', async () => {
  for (const path of ['/execute', '/validate']) await request(app).post(path).send({}).expect(401);
});

test('a missing, misspelled or exchanged handler and a missing guard do not compile', () => {
  const refusedByTheCompiler = () => [
    // @ts-expect-error -- validate is missing
    serve(operationsOf.executor, { execute }, { executor }),
    // @ts-expect-error -- validate is misspelled
    serve(operationsOf.executor, { execute, valdiate: validate }, { executor }),
    // @ts-expect-error -- the handlers are exchanged
    serve(operationsOf.executor, { execute: validate, validate: execute }, { executor }),
    // @ts-expect-error -- the guard is missing
    serve(operationsOf.executor, { execute, validate }),
  ];
  expect(refusedByTheCompiler).toBeInstanceOf(Function);
});
