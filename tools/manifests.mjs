// node tools/manifests.mjs: builds the overlays of k8s/ and writes them to k8s/rendered. Requires kubectl.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildOverlay, overlays, renderedFile } from './deploy/overlays.mjs';
import { Problem, runMain } from './start/output.mjs';

await runMain(async () => {
  for (const overlay of overlays) {
    const text = buildOverlay(overlay);
    if (text === null) throw new Problem('kubectl was not found. Install it to build the overlays.');
    mkdirSync(dirname(renderedFile(overlay)), { recursive: true });
    writeFileSync(renderedFile(overlay), text);
  }
});
