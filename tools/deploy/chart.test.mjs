import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../start/paths.mjs';
import { chart, chartTemplates, generatedTemplates } from './chart.mjs';
import { containers, readObjects, render, runHelm, testWithHelm } from './helm.mjs';
import { buildProductionWith, readOverlay } from './overlays.mjs';

const read = (...path) => readFileSync(join(chart, ...path), 'utf8');
const localValues = join(chart, 'values-local.yaml');
const keyOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;

/**
 * Objects by kind and name, with variables by name: their order has no meaning, because no value
 * refers to another.
 */
const canonical = (objects) => {
  const sorted = structuredClone(objects).map((object) => {
    for (const { env = [] } of containers([object])) {
      env.sort((one, other) => (one.name < other.name ? -1 : 1));
      for (const { value } of env) assert.ok(!value?.includes('$('), value);
    }
    return [keyOf(object), object];
  });
  assert.equal(new Set(sorted.map(([key]) => key)).size, objects.length);
  return Object.fromEntries(sorted.sort(([one], [other]) => (one < other ? -1 : 1)));
};

test('the templates are up to date (to update them: node tools/manifests.mjs)', () => {
  const files = chartTemplates();
  assert.deepEqual(readdirSync(generatedTemplates).sort(), Object.keys(files).sort());
  for (const [name, text] of Object.entries(files))
    assert.equal(read('templates', 'generated', name), text, name);
});

test('the chart has the version of the package', () => {
  const { version, appVersion } = parse(read('Chart.yaml'));
  assert.deepEqual(
    [version, appVersion],
    Array(2).fill(parse(readFileSync(join(root, 'package.json'), 'utf8')).version),
  );
});

describe('Helm', () => {
  for (const files of [[], [localValues]]) {
    testWithHelm(`lint accepts ${files.length > 0 ? 'the local values' : 'the defaults'}`, () => {
      const { status, stdout, stderr } = runHelm(['lint', '--strict', chart], {}, files);
      assert.equal(status, 0, stdout + stderr);
    });
  }

  testWithHelm('by default the objects are those of the production overlay', () => {
    assert.deepEqual(canonical(render()), canonical(readObjects(readOverlay('production'))));
  });

  testWithHelm('with the local values the objects are those of the local overlay', () => {
    assert.deepEqual(
      canonical(render({}, [localValues])),
      canonical(readObjects(readOverlay('local'))),
    );
  });

  for (const [values, components] of [
    [{ ingress: { kind: 'none' } }, []],
    [{ ingress: { kind: 'ingress' } }, ['ingress']],
    [{ ingress: { kind: 'ingress-nginx' } }, ['ingress-nginx']],
    [{ monitoring: { enabled: true } }, ['gateway-api', 'monitoring']],
    [{ autoscaling: { kind: 'keda' } }, ['gateway-api', 'keda']],
    [{ autoscaling: { kind: 'metrics' } }, ['gateway-api', 'hpa-metrics']],
    [{ imagePullSecrets: [{ name: 'registry' }] }, ['gateway-api', 'image-pull-secrets']],
    [{ caCertificates: 'ca-certificates' }, ['gateway-api', 'ca-certificates']],
  ]) {
    testWithHelm(
      `${JSON.stringify(values)} adds what the production overlay gets from ${components.join(' and ') || 'no component'}`,
      () => {
        const built = buildProductionWith(components);
        assert.ok(built, 'kubectl was not found');
        assert.deepEqual(canonical(render(values)), canonical(readObjects(built)));
      },
    );
  }

  testWithHelm('objects are in the namespace of the release', () => {
    const text = runHelm(['template', 'other', chart, '--namespace', 'agents'], {
      autoscaling: { kind: 'keda' },
      monitoring: { enabled: true },
    }).stdout;
    for (const { kind, metadata } of readObjects(text))
      assert.equal(metadata.namespace, 'agents', kind);
    assert.equal([...text.matchAll(/namespace="agents"/g)].length, 6);
    assert.ok(!text.includes('namespace="parley"'));
  });
});
