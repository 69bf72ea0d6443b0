import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { loadTypescript } from '../start/load-typescript.mjs';

test('the OpenAPI document has no findings of the recommended rules of Redocly', async () => {
  const { openApiDocument } = await loadTypescript(
    "export * from './libs/contracts/src/index'",
    'contracts',
  );
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({
    source: JSON.stringify(openApiDocument()),
    absoluteRef: '/openapi.json',
    config,
  });
  // The end of a sign-in only sends the browser elsewhere.
  const redirect = '#/paths/~1v1~1sign-in~1oidc~1callback/get/responses';
  const isRedirect = ({ ruleId, location }) =>
    ruleId === 'operation-2xx-response' && location[0]?.pointer === redirect;
  const found = problems
    .filter((problem) => !isRedirect(problem))
    .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
  assert.deepEqual(found, []);
});
