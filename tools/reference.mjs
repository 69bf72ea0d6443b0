// node tools/reference.mjs: writes docs/reference/definitions.md and management.md from the schemas of libs/contracts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionsPage } from './structure/definitions-page.mjs';
import { managementPage } from './structure/management-page.mjs';
import { runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

await runMain(async () => {
  for (const [name, page] of Object.entries({ definitions: definitionsPage, management: managementPage }))
    writeFileSync(join(root, 'docs', 'reference', `${name}.md`), await page());
});
