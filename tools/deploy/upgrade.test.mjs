import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { objectsOf, overlays, readOverlay } from './overlays.mjs';
import { podNeeds } from './requests.mjs';
import { loadServiceVariables } from './service-variables.mjs';

const variables = await loadServiceVariables();

for (const overlay of overlays) {
  const objects = objectsOf(readOverlay(overlay));
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  const services = deployments.filter(({ metadata }) => metadata.name in variables);

  describe(`an upgrade of overlay ${overlay}`, () => {
    test('applies objects that can be changed only', () => {
      assert.deepEqual(
        objects.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name),
        [],
      );
    });

    test('is migrated by the new pods themselves, which need no more to migrate than to serve', () => {
      for (const { metadata, spec } of services) {
        const pod = spec.template.spec;
        const usesDatabase = 'DATABASE_URL' in variables[metadata.name];
        assert.deepEqual(
          pod.initContainers?.map(({ image, args }) => [
            image.includes('parley-cli'),
            args[0],
            args[1],
          ]),
          usesDatabase ? [[true, 'migrate', '--wait']] : undefined,
          metadata.name,
        );
        for (const resource of ['cpu', 'memory']) {
          const serving = podNeeds({ containers: pod.containers }, resource);
          assert.equal(podNeeds(pod, resource), serving, `${metadata.name} ${resource}`);
        }
      }
    });

    test('replaces pods one by one, and is not given up while a pod waits for the database', () => {
      for (const { metadata, spec } of services) {
        assert.deepEqual(spec.strategy, {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
        });
        const { initContainers = [], containers } = spec.template.spec;
        const { periodSeconds, failureThreshold } = containers[0].startupProbe;
        const waitSeconds = initContainers
          .map(({ args }) => Number(args.at(-1)))
          .reduce((a, b) => a + b, 0);
        assert.ok(
          spec.progressDeadlineSeconds > waitSeconds + periodSeconds * failureThreshold,
          metadata.name,
        );
      }
    });
  });
}
