import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { definitionsPage } from './definitions-page.mjs';
import { managementClient } from './management-client.mjs';
import { managementPage } from './management-page.mjs';
import { permissionsPage } from './people-table.mjs';
import { root } from '../start/paths.mjs';

const stored = (name) => readFileSync(join(root, 'docs', 'reference', `${name}.md`), 'utf8');

test('docs/reference/definitions.md is what the schemas say; node tools/reference.mjs writes it', async () => {
  const page = await definitionsPage();
  assert.equal(stored('definitions'), page);
  assert.match(page, /\| `on\.schedule` \| string \| in one form \| When the trigger runs/);
  assert.match(page, /\| `model\.fallbacks` \| list of string \| no \| .* \| at most 5 entries \|/);
});

test('docs/reference/management.md is what the operations say; node tools/reference.mjs writes it', async () => {
  const page = await managementPage();
  assert.equal(stored('management'), page);
  assert.match(
    page,
    /\| \[`GET \/v1\/audit-log`\]\(#list-the-audit-log\) \| List the audit log \| admin \|/,
  );
});

test('the table of people in docs/reference/permissions.md is what the operations say; node tools/reference.mjs writes it', async () => {
  const page = await permissionsPage();
  assert.equal(stored('permissions'), page);
  assert.match(page, /\| `POST \/v1\/sync` \| .* \| member in development, admin in production \|/);
  assert.match(page, /\| `DELETE \/v1\/members\/:id` \| .* \| admin \|/);
});

test('the types of the management client are what the operations say; node tools/reference.mjs writes them', async () => {
  const text = await managementClient();
  assert.equal(readFileSync(join(root, 'libs/client/src/generated/management.ts'), 'utf8'), text);
  assert.match(text, /^ {2}listExecutions\(input\?: \{[^}]*toolErrors\?: boolean;/m);
});
