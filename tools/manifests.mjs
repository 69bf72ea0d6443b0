// node tools/manifests.mjs: builds the overlays of k8s/ into k8s/rendered. Needs kubectl.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { buildOverlay, overlays, renderedFile } from './deploy/overlays.mjs';
import { Problem, runMain } from './start/output.mjs';

await runMain(async () => {
  for (const overlay of overlays) {
    const text = buildOverlay(overlay);
    if (text === null) throw new Problem('kubectl is not on this machine; it is needed to build the overlays.');
    mkdirSync(dirname(renderedFile(overlay)), { recursive: true });
    writeFileSync(renderedFile(overlay), text);
  }
});
