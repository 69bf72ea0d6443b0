import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { configurationPage } from './configuration-page.mjs';
import { loadServiceVariables } from './service-variables.mjs';

const variables = await loadServiceVariables();
const all = Object.entries(variables).flatMap(([service, own]) =>
  Object.entries(own).map(([name, variable]) => ({ service, name, ...variable })),
);

test('docs/configuration.md matches the schemas (to update it: node tools/configuration.mjs)', () => {
  assert.equal(
    readFileSync(join(root, 'docs', 'configuration.md'), 'utf8'),
    configurationPage(variables),
  );
});

test('every variable has a description', () => {
  for (const { service, name, description } of all)
    assert.ok(description.length > 10, `${service} ${name}`);
});

test('no secret has a default', () => {
  const secrets = all.filter(
    ({ name }) => /(KEY|SECRET|TOKEN|PASSWORD)$/.test(name) && !name.endsWith('RATE_LIMIT_PER_KEY'),
  );
  assert.ok(secrets.length >= 10);
  for (const { service, name, default: fallback } of secrets)
    assert.ok(!fallback, `${service} ${name}`);
  const secretsKeys = all.filter(({ name }) => name === 'SECRETS_KEY');
  assert.ok(secretsKeys.length >= 2 && secretsKeys.every(({ required }) => required));
});
