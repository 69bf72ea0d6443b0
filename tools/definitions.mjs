// node tools/definitions.mjs: writes docs/reference/definitions.md from the schemas of definitions.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { definitionsPage } from './structure/definitions-page.mjs';
import { runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

await runMain(async () => {
  writeFileSync(join(root, 'docs', 'reference', 'definitions.md'), await definitionsPage());
});
