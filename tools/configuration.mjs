// node tools/configuration.mjs: writes docs/configuration.md from the configuration schemas
// of the services.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationPage } from './deploy/configuration-page.mjs';
import { loadServiceVariables } from './deploy/service-variables.mjs';
import { runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

await runMain(async () => {
  writeFileSync(
    join(root, 'docs', 'configuration.md'),
    configurationPage(await loadServiceVariables()),
  );
});
