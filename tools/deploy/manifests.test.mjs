import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../start/paths.mjs';
import { buildOverlay, objectsOf, overlays, readOverlay } from './overlays.mjs';
import { createReachability } from './reachable.mjs';
import { loadServiceVariables } from './service-variables.mjs';
import { validate } from './validate.mjs';

const variables = await loadServiceVariables();
const services = Object.keys(variables);
const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const nameOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;

for (const overlay of overlays) {
  const text = readOverlay(overlay);
  const objects = objectsOf(text);
  const ofKind = (kind) => objects.filter((object) => object.kind === kind);
  const deployments = ofKind('Deployment');
  const workloads = objects.filter(({ spec }) => spec?.template?.spec?.containers);
  const containersOf = ({ initContainers = [], containers }) => [...initContainers, ...containers];
  const labelsOf = (component) => ({
    'app.kubernetes.io/name': 'parley',
    'app.kubernetes.io/component': component,
  });

  describe(`overlay ${overlay}`, () => {
    test('the rendered file is up to date (to update it: node tools/manifests.mjs)', () => {
      const built = buildOverlay(overlay);
      // Without kubectl only the rendered file is checked, by the tests below.
      assert.equal(text, built ?? text);
    });

    test('every object is valid by the schemas of Kubernetes', () => {
      for (const object of objects) validate(object);
      const broken = objectsOf(text).find(({ kind }) => kind === 'Deployment');
      broken.spec.template.spec.containers[0].ports[0].containerPort = 'http';
      assert.throws(() => validate(broken), /Deployment/);
    });

    test('each service has a deployment with its image', () => {
      assert.deepEqual(
        deployments.map(({ metadata }) => metadata.name).sort(),
        [...services].sort(),
      );
      for (const { metadata, spec } of deployments) {
        const { image } = spec.template.spec.containers[0];
        assert.match(image, new RegExp(`(^|/)parley-${metadata.name}:[^:]+$`));
        assert.ok(!image.endsWith(':latest'));
      }
    });

    test('pods are restricted: no root, no token, no writes, no privilege escalation', () => {
      const namespace = parse(readFileSync(join(root, 'k8s', 'namespace.yaml'), 'utf8'));
      assert.deepEqual(
        [namespace.kind, namespace.metadata.name],
        ['Namespace', objects[0].metadata.namespace],
      );
      assert.equal(namespace.metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted');
      for (const workload of workloads) {
        const { spec } = workload.spec.template;
        assert.equal(spec.automountServiceAccountToken, false, nameOf(workload));
        assert.equal(spec.enableServiceLinks, false, nameOf(workload));
        assert.equal(spec.securityContext.runAsNonRoot, true, nameOf(workload));
        assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault', nameOf(workload));
        assert.ok(!spec.hostNetwork && !spec.hostPID && !spec.hostIPC, nameOf(workload));
        for (const container of containersOf(spec)) {
          assert.deepEqual(container.securityContext, restrictedContainer, nameOf(workload));
          assert.ok(
            container.resources.requests.cpu && container.resources.requests.memory,
            nameOf(workload),
          );
          assert.ok(container.resources.limits.memory, nameOf(workload));
        }
      }
    });

    test('probes use the internal port of the service', () => {
      for (const deployment of deployments) {
        const [app] = deployment.spec.template.spec.containers;
        const internal = app.ports.find(({ name }) => name === 'internal').containerPort;
        assert.equal(internal, variables[deployment.metadata.name].INTERNAL_PORT.default);
        const probes = [app.startupProbe, app.livenessProbe, app.readinessProbe].map(
          ({ httpGet }) => httpGet,
        );
        assert.deepEqual(probes, [
          { path: '/livez', port: 'internal' },
          { path: '/livez', port: 'internal' },
          { path: '/readyz', port: 'internal' },
        ]);
        assert.equal(
          deployment.spec.template.metadata.annotations['prometheus.io/port'],
          String(internal),
        );
      }
    });

    test('a pod has enough time to stop, and receives no requests after it has closed its port', () => {
      for (const deployment of deployments) {
        const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
        const valueOf = (name) =>
          Number(containers[0].env.find((variable) => variable.name === name).value);
        const preStopSeconds = Number(containers[0].lifecycle.preStop.exec.command[1]);
        assert.ok(
          terminationGracePeriodSeconds >= preStopSeconds + valueOf('SHUTDOWN_TIMEOUT_MS') / 1000,
        );
        // Longer than the gateway keeps an idle connection (apps/gateway/src/upstreams.ts).
        assert.ok(valueOf('SHUTDOWN_DRAIN_MS') > 4_000 && preStopSeconds >= 5);
      }
      const shutdownOf = (name) =>
        Number(
          deployments
            .find(({ metadata }) => metadata.name === name)
            .spec.template.spec.containers[0].env.find(
              (variable) => variable.name === 'SHUTDOWN_TIMEOUT_MS',
            ).value,
        );
      const { CHAT_DEADLINE_MS, EXECUTOR_DEADLINE_MS, DEADLINE_MS } = variables.gateway;
      assert.ok(shutdownOf('gateway') > CHAT_DEADLINE_MS.default);
      assert.ok(shutdownOf('chat') > variables.chat.TURN_TIMEOUT_MS.default);
      assert.ok(shutdownOf('worker') > variables.worker.TURN_TIMEOUT_MS.default);
      assert.ok(shutdownOf('tool-executor') > EXECUTOR_DEADLINE_MS.default);
      assert.ok(shutdownOf('data') > DEADLINE_MS.default);
    });

    test('each service gets all required variables, and no unknown ones', () => {
      for (const { metadata, spec } of deployments) {
        const known = variables[metadata.name];
        const given = spec.template.spec.containers[0].env.map(({ name }) => name);
        for (const name of given)
          assert.ok(name in known, `${metadata.name} has no variable ${name}`);
        const required = Object.keys(known).filter((name) => known[name].required);
        for (const name of required)
          assert.ok(given.includes(name), `${metadata.name} needs ${name}`);
      }
    });

    test('secrets come from Secret objects, are passed only to services that use them, and are not in the manifests', () => {
      assert.equal(ofKind('Secret').length, 0);
      const secretsOf = (component) => {
        const { env, envFrom = [] } = deployments.find(
          ({ metadata }) => metadata.name === component,
        ).spec.template.spec.containers[0];
        const own = env
          .filter(({ valueFrom }) => valueFrom)
          .map(({ valueFrom }) => valueFrom.secretKeyRef.key);
        return [...own, ...envFrom.map(({ secretRef }) => secretRef.name)];
      };
      assert.deepEqual(secretsOf('gateway'), []);
      assert.deepEqual(secretsOf('tool-executor'), ['EXECUTOR_TOKEN']);
      for (const workload of workloads) {
        for (const { name, value } of workload.spec.template.spec.containers[0].env ?? []) {
          if (/KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL|REDIS_URL/.test(name))
            assert.equal(value, undefined, name);
        }
      }
    });

    test('a service has all secrets of webhooks only if it reads all', () => {
      const having = deployments
        .filter(({ spec }) =>
          JSON.stringify(spec.template.spec.containers[0].envFrom ?? []).includes(
            'parley-webhooks',
          ),
        )
        .map(({ metadata }) => metadata.name);
      const reading = services.filter((name) => variables[name].BILLING_WEBHOOK_SECRET);
      assert.deepEqual(having, reading);
    });

    test('to delete the overlay deletes neither the namespace nor secrets nor volumes', () => {
      const kinds = new Set(objects.map(({ kind }) => kind));
      for (const kind of ['Namespace', 'Secret', 'PersistentVolumeClaim', 'PersistentVolume'])
        assert.equal(kinds.has(kind), false, kind);
      // By default the volumes of a StatefulSet stay when it is deleted.
      for (const { spec } of ofKind('StatefulSet'))
        assert.equal(spec.persistentVolumeClaimRetentionPolicy, undefined);
      for (const { metadata } of objects) assert.equal(metadata.namespace, 'parley', metadata.name);
    });

    test('the command line waits in a pod of its own, with what its commands need', () => {
      const cli = ofKind('StatefulSet').find(({ metadata }) => metadata.name === 'cli');
      assert.equal(cli.spec.replicas, 0);
      const [container] = cli.spec.template.spec.containers;
      assert.match(container.image, /(^|\/)parley-cli:[^:]+$/);
      const sourceOf = ({ value, valueFrom }) => value ?? valueFrom.secretKeyRef.key;
      const given = Object.fromEntries(container.env.map((one) => [one.name, sourceOf(one)]));
      assert.deepEqual(given, {
        PARLEY_URL: 'http://gateway:4000',
        DATABASE_URL: 'MIGRATION_DATABASE_URL',
        REDIS_URL: 'REDIS_URL',
        SECRETS_KEY: 'SECRETS_KEY',
        ...(overlay === 'production' && { PUBLIC_URL: 'https://parley.example.com' }),
      });
      assert.deepEqual(container.envFrom, [
        { secretRef: { name: 'parley-webhooks', optional: true } },
      ]);
      const { toPod, toAddress } = createReachability(objects);
      const reached = services.filter((to) =>
        toPod(labelsOf('cli'), labelsOf(to), variables[to].PORT.default),
      );
      assert.deepEqual(reached, ['gateway']);
      assert.equal(toAddress(labelsOf('cli'), '93.184.215.14', 443), false);
    });

    test('services select their pods, and addresses name existing services and ports', () => {
      for (const service of ofKind('Service')) {
        const [target] = workloads.filter(({ spec }) =>
          Object.entries(service.spec.selector).every(
            ([name, value]) => spec.template.metadata.labels[name] === value,
          ),
        );
        const ports = target.spec.template.spec.containers[0].ports;
        for (const { targetPort, port } of service.spec.ports) {
          assert.equal(
            ports.find(({ name }) => name === targetPort).containerPort,
            port,
            nameOf(service),
          );
        }
      }
      const addresses = deployments
        .flatMap(({ spec }) => spec.template.spec.containers[0].env)
        .filter(({ name, value }) => name.endsWith('_URL') && value?.startsWith('http://'));
      assert.ok(addresses.length >= 7);
      for (const { value } of addresses) {
        const { hostname, port } = new URL(value);
        const service = ofKind('Service').find(({ metadata }) => metadata.name === hostname);
        assert.equal(service?.spec.ports[0].port, Number(port), value);
      }
    });

    describe('the network', () => {
      const { toPod, toAddress, fromNamespace } = createReachability(objects);
      const portOf = (component) => variables[component].PORT.default;
      const reaches = (from, to) => toPod(labelsOf(from), labelsOf(to), portOf(to));

      test('services reach only the services that docs/architecture.md allows', () => {
        const allowed = [
          ['gateway', 'data'],
          ['gateway', 'chat'],
          ['gateway', 'webhook-ingest'],
          ['gateway', 'manage'],
          ['gateway', 'tool-executor'],
          ['data', 'tool-executor'],
          ['chat', 'tool-executor'],
          ['worker', 'tool-executor'],
          ['tool-executor', 'chat'],
        ];
        const found = services.flatMap((from) =>
          services.filter((to) => reaches(from, to)).map((to) => [from, to]),
        );
        assert.deepEqual(found.map(String).sort(), allowed.map(String).sort());
      });

      test('user code reaches no store, no private address and no metadata service', () => {
        const executor = labelsOf('tool-executor');
        const closed = [
          '10.0.0.1',
          '10.96.0.1',
          '172.16.0.1',
          '192.168.1.1',
          '100.64.0.1',
          '127.0.0.1',
          '169.254.169.254',
        ];
        // 6to4 and Teredo, each with 10.0.0.1 and with a public address inside, and
        // the relays of 6to4.
        const tunnels = [
          '2002:a00:1::1',
          '2002:808:808::1',
          '2001:0:a00:1::1',
          '2001:0:808:808::1',
          '192.88.99.1',
        ];
        for (const port of [80, 443, 5432, 6379, 6443]) {
          for (const address of [
            ...closed,
            '168.63.129.16',
            'fd00::1',
            'fe80::1',
            '::1',
            '64:ff9b::a00:1',
            ...tunnels,
          ]) {
            assert.equal(toAddress(executor, address, port), false, `${address}:${port}`);
          }
        }
        assert.equal(toAddress(executor, '93.184.215.14', 443), true);
        assert.equal(toAddress(executor, '2606:4700:4700::1111', 443), true);
        assert.equal(toAddress(executor, '93.184.215.14', 5432), false);
        for (const [store, port] of [
          ['postgres', 5432],
          ['redis', 6379],
        ]) {
          assert.equal(toPod(executor, { 'app.kubernetes.io/name': store }, port), false, store);
        }
        // Addresses of the stores in the production overlay.
        assert.equal(toAddress(executor, '192.0.2.1', 5432), false);
        assert.equal(toAddress(executor, '192.0.2.17', 6379), false);
      });

      test('only services that use a store reach it', () => {
        const reachesStore = (component, store, port, address) =>
          overlay === 'local'
            ? toPod(labelsOf(component), { 'app.kubernetes.io/name': store }, port)
            : toAddress(labelsOf(component), address, port);
        const all = [...services, 'cli'];
        const users = (store, port, address) =>
          all.filter((one) => reachesStore(one, store, port, address)).sort();
        const needs = (name) => services.filter((service) => name in variables[service]);
        assert.deepEqual(
          users('postgres', 5432, '192.0.2.1'),
          [...needs('DATABASE_URL'), 'cli'].sort(),
        );
        assert.deepEqual(users('redis', 6379, '192.0.2.17'), [...needs('REDIS_URL'), 'cli'].sort());
      });

      test('Prometheus reaches the internal ports', () => {
        for (const service of services) {
          const internal = variables[service].INTERNAL_PORT.default;
          assert.equal(fromNamespace('monitoring', labelsOf(service), internal), true, service);
          assert.equal(
            fromNamespace('monitoring', labelsOf(service), portOf(service)),
            false,
            service,
          );
          assert.equal(fromNamespace('default', labelsOf(service), internal), false, service);
        }
      });

      test('a pod without a policy has no access', () => {
        assert.equal(toAddress({}, '93.184.215.14', 443), false);
        assert.equal(toPod(labelsOf('gateway'), {}, 80), false);
      });
    });
  });
}

test('production scales and survives the loss of a node', () => {
  const objects = objectsOf(readOverlay('production'));
  const namesOf = (kind) =>
    objects
      .filter((object) => object.kind === kind)
      .map(({ metadata }) => metadata.name)
      .sort();
  assert.deepEqual(namesOf('PodDisruptionBudget'), [...services].sort());
  assert.deepEqual(namesOf('HorizontalPodAutoscaler'), [...services].sort());
  for (const { spec } of objects.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')) {
    assert.ok(spec.minReplicas >= 2 && spec.maxReplicas > spec.minReplicas);
  }
  for (const { spec } of objects.filter(({ kind }) => kind === 'Deployment')) {
    assert.equal(spec.replicas, undefined); // set by the autoscaler
    assert.equal(spec.template.spec.topologySpreadConstraints.length, 2);
  }
});

test('Redis of the local overlay evicts nothing and has an append-only file', () => {
  const redis = objectsOf(readOverlay('local')).find(
    (object) => nameOf(object) === 'StatefulSet/redis',
  );
  const args = redis.spec.template.spec.containers[0].args.join(' ');
  assert.match(args, /--maxmemory-policy noeviction/);
  assert.match(args, /--appendonly yes/);
});
