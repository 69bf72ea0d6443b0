// node tools/manifests.mjs: writes what is derived from the files of k8s/. The overlays and
// components are built to k8s/rendered, which requires kubectl. The alerts become an object of the
// Prometheus Operator. The templates of the Helm chart are written from what was built.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { prometheusRule, prometheusRuleFile } from './deploy/alerts.mjs';
import { chartTemplates, generatedTemplates } from './deploy/chart.mjs';
import {
  buildComponent,
  buildOverlay,
  components,
  overlays,
  renderedComponent,
  renderedOverlay,
} from './deploy/overlays.mjs';
import { Problem, runMain } from './start/output.mjs';

await runMain(async () => {
  writeFileSync(prometheusRuleFile, prometheusRule());
  rmSync(dirname(renderedComponent('any')), { recursive: true, force: true });
  for (const overlay of overlays) write(renderedOverlay(overlay), buildOverlay(overlay));
  for (const component of components)
    write(renderedComponent(component), buildComponent(component));
  rmSync(generatedTemplates, { recursive: true, force: true });
  for (const [name, text] of Object.entries(chartTemplates()))
    write(join(generatedTemplates, name), text);
});

function write(file, text) {
  if (text === null) throw new Problem('kubectl was not found. Install it to build the overlays.');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
