import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { loadTypescript } from '../start/load-typescript.mjs';

test('the OpenAPI document has no findings of the recommended rules of Redocly', async () => {
  const { openApiDocument } = await loadTypescript("export * from './libs/contracts/src/index'", 'contracts');
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({
    source: JSON.stringify(openApiDocument()),
    absoluteRef: '/openapi.json',
    config,
  });
  const found = problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
  assert.deepEqual(found, []);
});
