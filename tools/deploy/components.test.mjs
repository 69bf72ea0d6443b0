import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { prometheusRule, prometheusRuleFile } from './alerts.mjs';
import { exists, metricsIn } from './metrics.mjs';
import { buildComponent, components, objectsOf, readComponent, readOverlay } from './overlays.mjs';
import { createReachability } from './reachable.mjs';
import { loadServiceVariables } from './service-variables.mjs';
import { validate } from './validate.mjs';

const variables = await loadServiceVariables();
const services = Object.keys(variables);
const { findRoute } = await loadTypescript("export * from './apps/gateway/src/routes'", 'routes');
const production = objectsOf(readOverlay('production'));
const find = (objects, kind, name = 'parley') =>
  objects.find((one) => one.kind === kind && one.metadata.name === name);
const objectsIn = (component) => objectsOf(readComponent(component));

for (const component of components) {
  test(`the rendered component ${component} is up to date, and its objects are valid`, () => {
    const text = readComponent(component);
    assert.equal(text, buildComponent(component) ?? text);
    for (const object of objectsOf(text)) validate(object);
  });
}

describe('components that lead requests in', () => {
  const port = variables.gateway.PORT.default;

  test('the Gateway leads all paths to the gateway over TLS, and ends no stream', () => {
    const objects = objectsIn('gateway-api');
    const [listener, ...more] = find(objects, 'Gateway').spec.listeners;
    assert.deepEqual(
      [listener.protocol, listener.tls.certificateRefs[0].name, more],
      ['HTTPS', 'parley-tls', []],
    );
    const { parentRefs, hostnames, rules } = find(objects, 'HTTPRoute').spec;
    assert.deepEqual(
      [parentRefs, hostnames],
      [[{ name: 'parley', sectionName: listener.name }], [listener.hostname]],
    );
    assert.deepEqual(rules, [
      {
        matches: [{ path: { type: 'PathPrefix', value: '/' } }],
        timeouts: { request: '0s' },
        backendRefs: [{ name: 'gateway', port }],
      },
    ]);
    assert.ok(find(production, 'HTTPRoute'), 'production has one component that leads requests in');
  });

  for (const component of ['ingress', 'ingress-nginx']) {
    test(`${component} leads all paths to the gateway over TLS`, () => {
      const { spec } = find(objectsIn(component), 'Ingress');
      assert.deepEqual(spec.tls, [{ hosts: [spec.rules[0].host], secretName: 'parley-tls' }]);
      const paths = spec.rules.flatMap(({ http }) =>
        http.paths.map(({ path, backend }) => [path, backend.service]),
      );
      assert.deepEqual(paths, [['/', { name: 'gateway', port: { name: 'http' } }]]);
    });
  }

  test('nginx waits longer than the longest answer takes, and accepts the largest body', () => {
    const { annotations } = find(objectsIn('ingress-nginx'), 'Ingress').metadata;
    const of = (name) => parseInt(annotations[`nginx.ingress.kubernetes.io/proxy-${name}`], 10);
    assert.ok(of('read-timeout') * 1_000 > variables.gateway.CHAT_DEADLINE_MS.default);
    const { limitBytes } = findRoute('/v1/threads/a/messages', 'POST');
    assert.ok(limitBytes > 10 * 1024 * 1024 && of('body-size') * 1024 * 1024 >= limitBytes);
  });

  for (const [component, namespace] of [
    ['gateway-api', 'envoy-gateway-system'],
    ['ingress', 'traefik'],
    ['ingress-nginx', 'ingress-nginx'],
  ]) {
    test(`with ${component}, the pods of its namespace reach the public port of the gateway and nothing else`, () => {
      const others = objectsOf(readOverlay('local'));
      const { fromNamespace } = createReachability([...others, ...objectsIn(component)]);
      const labelsOf = (service) => ({
        'app.kubernetes.io/name': 'parley',
        'app.kubernetes.io/component': service,
      });
      const open = services.filter((name) =>
        fromNamespace(namespace, labelsOf(name), variables[name].PORT.default),
      );
      assert.deepEqual(open, ['gateway']);
      assert.equal(
        fromNamespace(namespace, labelsOf('gateway'), variables.gateway.INTERNAL_PORT.default),
        false,
      );
      assert.equal(fromNamespace('default', labelsOf('gateway'), port), false);
    });
  }
});

describe('components that scale by metrics', () => {
  const scaled = ['chat', 'worker'];

  test('KEDA replaces the autoscalers of the services that wait for models, within the same limits', () => {
    const text = readComponent('keda');
    assert.deepEqual(
      [...text.matchAll(/^# Without (.*)$/gm)].map(([, name]) => name),
      scaled.map((name) => `HorizontalPodAutoscaler/${name}`),
    );
    for (const name of scaled) {
      const { scaleTargetRef, minReplicaCount, maxReplicaCount, fallback } = find(
        objectsOf(text),
        'ScaledObject',
        name,
      ).spec;
      const { minReplicas, maxReplicas } = find(production, 'HorizontalPodAutoscaler', name).spec;
      assert.deepEqual(
        [scaleTargetRef.name, minReplicaCount, maxReplicaCount],
        [name, minReplicas, maxReplicas],
      );
      assert.ok(fallback.replicas >= minReplicas && fallback.replicas <= maxReplicas);
    }
  });

  test('both ways read turns in flight and each lag in PostgreSQL, with the same thresholds', () => {
    for (const name of scaled) {
      const { triggers } = find(objectsIn('keda'), 'ScaledObject', name).spec;
      const queries = triggers
        .filter(({ type }) => type === 'prometheus')
        .map(({ metadata }) => metadata);
      const byKeda = queries.map(({ query, threshold }) => [metricsIn(query).join(), threshold]);
      const { metrics } = find(objectsIn('hpa-metrics'), 'HorizontalPodAutoscaler', name).spec;
      const byHpa = metrics.flatMap(({ pods }) =>
        pods ? [[pods.metric.name, pods.target.averageValue]] : [],
      );
      // The adapter would add up the lags of the providers.
      const withoutProviders = byKeda.filter(
        ([metric]) => metric !== 'webhook_delivery_lag_seconds',
      );
      assert.deepEqual(byHpa.sort(), withoutProviders.sort());
      const lags = byKeda
        .map(([metric]) => metric)
        .filter((metric) => metric.endsWith('_lag_seconds'));
      assert.equal(lags.length, name === 'worker' ? 4 : 0);
      for (const [metric] of byKeda) assert.ok(exists(metric), metric);
      for (const { query } of queries) assert.match(query, /namespace="parley"/);
      assert.ok(byKeda.some(([metric]) => metric === 'turns_in_flight'));
    }
    const [{ metadata }] = find(objectsIn('keda'), 'ScaledObject', 'chat').spec.triggers;
    assert.ok(Number(metadata.threshold) <= variables.chat.CHAT_MAX_TURNS.default / 2);
  });
});

describe('the component monitoring', () => {
  test('reads the internal port of every pod', () => {
    const { selector, podMetricsEndpoints, podTargetLabels } = find(
      objectsIn('monitoring'),
      'PodMonitor',
    ).spec;
    const [{ port, path }] = podMetricsEndpoints;
    assert.equal(path, '/metrics');
    // The alert on pods that cannot be read names this label.
    assert.ok(podTargetLabels.includes('app.kubernetes.io/name'));
    for (const name of services) {
      const { metadata, spec } = find(production, 'Deployment', name).spec.template;
      for (const [label, value] of Object.entries(selector.matchLabels))
        assert.equal(metadata.labels[label], value);
      assert.ok(
        spec.containers[0].ports.some((one) => one.name === port),
        name,
      );
    }
  });

  test('has the alerts of k8s/monitoring (to update it: node tools/manifests.mjs)', () => {
    assert.equal(readFileSync(prometheusRuleFile, 'utf8'), prometheusRule());
  });
});

test('image-pull-secrets gives every pod the credentials of the registry', () => {
  const objects = objectsIn('image-pull-secrets');
  assert.deepEqual(
    objects.map(({ metadata }) => metadata.name).sort(),
    [...services, 'cli'].sort(),
  );
  for (const { spec } of objects)
    assert.deepEqual(spec.template.spec.imagePullSecrets, [{ name: 'registry' }]);
});

test('ca-certificates gives every container the certificates', () => {
  const objects = objectsIn('ca-certificates');
  assert.deepEqual(
    objects.map(({ metadata }) => metadata.name).sort(),
    [...services, 'cli'].sort(),
  );
  for (const { spec } of objects) {
    const { initContainers = [], containers, volumes } = spec.template.spec;
    const { name } = volumes.find(({ configMap }) => configMap?.name === 'ca-certificates');
    for (const { env, volumeMounts } of [...initContainers, ...containers]) {
      const { mountPath } = volumeMounts.find((mount) => mount.name === name);
      assert.ok(
        env.some(
          (one) => one.name === 'NODE_EXTRA_CA_CERTS' && one.value === `${mountPath}/ca.crt`,
        ),
      );
    }
  }
});

describe('the guide', () => {
  const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const examples = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => parse(text));

  test('has a row for each component', () => {
    const [, section] = page.split('### Components\n');
    const rows = section.split('\n### ')[0].matchAll(/^\| `([\w-]+)` \| (?!of|chat|worker)/gm);
    assert.deepEqual(
      [...rows]
        .map(([, name]) => name)
        .filter((name) => !name.includes('_'))
        .sort(),
      components,
    );
  });

  test('has examples whose names are those of the manifests', () => {
    const [secret, cluster, [peer]] = examples;
    assert.ok(
      JSON.stringify(production).includes(
        `"secretKeyRef":{"key":"SECRETS_KEY","name":"${secret.spec.target.name}"}`,
      ),
    );
    assert.deepEqual(
      [secret.metadata.namespace, secret.spec.target.creationPolicy],
      ['parley', 'Orphan'],
    );
    assert.equal(
      cluster.spec.postgresql.parameters.max_connections,
      /`max_connections` to at least (\d+)/.exec(page)[1],
    );
    const [namespace] = Object.values(peer.namespaceSelector.matchLabels);
    assert.equal(namespace, cluster.metadata.namespace);
    const stores = readFileSync(join(root, 'k8s/overlays/production/stores.yaml'), 'utf8');
    assert.match(stores, /name: to-postgres[^]*ipBlock/);
  });

  test('states the thresholds of the autoscalers', () => {
    for (const name of ['chat', 'worker']) {
      const { triggers } = find(objectsIn('keda'), 'ScaledObject', name).spec;
      for (const { type, metadata } of triggers) {
        if (type !== 'prometheus') continue;
        const metric = metricsIn(metadata.query)[0];
        const row = page
          .split('\n')
          .find(
            (line) =>
              line.startsWith('| `') &&
              line.includes(metric) &&
              (metric !== 'turns_in_flight' || line.includes(`| ${name}`)),
          );
        assert.match(row, new RegExp(`\\| ${metadata.threshold}( s)? \\|$`), `${name} ${metric}`);
      }
    }
  });
});
