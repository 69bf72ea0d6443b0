// node tools/reference.mjs: writes docs/reference/definitions.md, management.md and the
// table of people in permissions.md, and the types of the management client, from the
// schemas of libs/contracts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionsPage } from './structure/definitions-page.mjs';
import { managementClient } from './structure/management-client.mjs';
import { managementPage } from './structure/management-page.mjs';
import { permissionsPage } from './structure/people-table.mjs';
import { runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

await runMain(async () => {
  for (const [name, page] of Object.entries({
    definitions: definitionsPage,
    management: managementPage,
    permissions: permissionsPage,
  }))
    writeFileSync(join(root, 'docs', 'reference', `${name}.md`), await page());
  const generated = join(root, 'libs', 'client', 'src', 'generated');
  mkdirSync(generated, { recursive: true });
  writeFileSync(join(generated, 'management.ts'), await managementClient());
});
