import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { isMap, parse, parseDocument } from 'yaml';
import { deployedApps } from '../build.mjs';
import { root } from '../start/paths.mjs';
import { chart } from './chart.mjs';
import { render, runHelm, testWithHelm } from './helm.mjs';
import { components } from './overlays.mjs';
import { validate } from './validate.mjs';

const read = (name) => readFileSync(join(chart, name), 'utf8');
const guide = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
const areas = parseDocument(read('values.yaml')).contents.items.map(({ key }) => key.value);
const leaves = leavesOf(parseDocument(read('values.yaml')).contents);
const digest = `sha256:${'0a'.repeat(32)}`;
const extraEgress = {
  services: ['chat', 'worker'],
  to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ollama' } } }],
  ports: [{ protocol: 'TCP', port: 11434 }],
};

/** Other values than the defaults, by the end of their paths. */
const others = [
  [/^ingress\.kind$/, 'ingress'],
  [/^autoscaling\.kind$/, 'none'],
  [/prometheusUrl$/, 'https://prometheus.example.com'],
  [/^imagePullSecrets$/, [{ name: 'registry' }]],
  [/^networkPolicies\.(postgres|redis)$/, [{ ipBlock: { cidr: '198.51.100.0/28' } }]],
  [/^networkPolicies\.egress$/, [extraEgress]],
  [/^image\.digests/, digest],
  [/annotations$/, { 'cert-manager.io/cluster-issuer': 'letsencrypt' }],
  [/env$/, { LOG_LEVEL: 'debug' }],
  [/\.replicas$/, 3],
  [/(min|max)Replicas$/, 5],
  [/(storage|memory)$/, '7Gi'],
  [/cpu$/i, '123m'],
  [/enabled$/, true],
  [/./, 'other'],
];
/** Values that are effective with others only. */
const contexts = [
  [/prometheusUrl$/, { autoscaling: { kind: 'keda' } }],
  [/\.replicas$/, { autoscaling: { kind: 'none' } }],
  [/^databases\.(postgres|redis)/, { databases: { enabled: true } }],
];
/** @type {Map<string, any[]>} */
const rendered = new Map();
function renderOnce(values) {
  const key = JSON.stringify(values);
  if (!rendered.has(key)) rendered.set(key, render(values));
  return rendered.get(key);
}
const firstMatch = (pairs, path) => pairs.find(([pattern]) => pattern.test(path))?.[1];

describe('values.yaml', () => {
  for (const area of areas) {
    testWithHelm(`each value of ${area} changes the objects, which stay valid`, () => {
      const own = leaves.filter(({ path }) => path.split('.')[0] === area);
      assert.ok(own.length > 0);
      for (const { path } of own) {
        const context = firstMatch(contexts, path) ?? {};
        const changed = path
          .split('.')
          .reduceRight((inner, key) => ({ [key]: inner }), firstMatch(others, path));
        const objects = render({ ...context, ...mergeTwo(context, changed) });
        assert.notDeepEqual(objects, renderOnce(context), path);
        for (const object of objects) validate(object);
      }
    });
  }

  testWithHelm(
    'has a comment for each value, which those of the first service share with the others',
    () => {
      for (const { path, comment } of leaves) {
        const [area, name] = path.split('.');
        if (area !== 'services' || name === 'gateway') assert.match(comment, /^ \S.{5,}/, path);
      }
    },
  );

  testWithHelm('has the values of the schema, and a service for each image', () => {
    const { properties, $defs } = JSON.parse(read('values.schema.json'));
    const defaults = parse(read('values.yaml'));
    const { global, ...own } = properties;
    assert.equal(global.type, 'object'); // Helm adds it
    const check = (schema, value, path) => {
      const { properties: known } = schema.$ref ? $defs[schema.$ref.split('/').pop()] : schema;
      // Limits may also be of the CPU.
      if (!known || path.endsWith('.limits')) return;
      assert.deepEqual(Object.keys(known).sort(), Object.keys(value).sort(), path);
      for (const [key, inner] of Object.entries(known)) check(inner, value[key], `${path}.${key}`);
    };
    check({ properties: own }, defaults, 'values');
    const kebabCase = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    assert.deepEqual(Object.keys(defaults.services).map(kebabCase).sort(), deployedApps().sort());
    assert.deepEqual(
      Object.keys(defaults.image.digests).map(kebabCase).sort(),
      deployedApps().sort(),
    );
  });
});

describe('values', () => {
  for (const [wrong, message] of [
    [{ images: {} }, /'images' not allowed/],
    [
      { services: { chat: { replica: 2 } } },
      /'\/services\/chat': additional properties 'replica' not allowed/,
    ],
    [{ services: { gateway: { replicas: '2' } } }, /'\/services\/gateway\/replicas': got string/],
    [{ ingress: { kind: 'nginx' } }, /'\/ingress\/kind': value must be one of 'gateway-api'/],
    [
      { env: { OPENAI_API_KEY: 'sk-1' } },
      /env has the secret OPENAI_API_KEY. Put it into one of the Secrets/,
    ],
    [{ services: { chat: { env: { DATABASE_URL: 'x' } } } }, /env has the secret DATABASE_URL/],
    // Helm reads numbers as floating point: 8000000 would become 8e+06.
    [{ env: { DATABASE_TIMEOUT_MS: 8000000 } }, /'\/env\/DATABASE_TIMEOUT_MS': got number/],
    [
      { image: { digests: { chat: 'latest' } } },
      /'\/image\/digests\/chat': 'latest' does not match pattern/,
    ],
    [{ host: '' }, /host is empty. Set it, or set ingress.kind to none/],
    [{ host: 'https://parley.example.com' }, /'\/host': .* does not match pattern/],
  ]) {
    testWithHelm(`are refused: ${JSON.stringify(wrong)}`, () => {
      const { status, stderr } = runHelm(['template', chart], wrong);
      assert.equal(status, 1);
      assert.match(stderr, message);
    });
  }

  testWithHelm('are valid and effective in the guide, which names those of each component', () => {
    const [, section] = guide.split('\n### Helm\n');
    const [text] = section.split('\n### ');
    const [production, secrets] = [...text.matchAll(/^ {3}```yaml\n(.*?)^ {3}```$/gms)].map(
      ([, yaml]) => parse(yaml),
    );
    assert.deepEqual(canonicalText(render(production)), canonicalText(render()));
    assert.notDeepEqual(canonicalText(render(secrets)), canonicalText(render()));
    const rows = [...text.matchAll(/^ {3}\| `.*$/gm)].map(([row]) => row).join();
    for (const component of components) assert.ok(rows.includes(`\`${component}\``), component);
  });

  const containerOf = (objects, name) =>
    objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name).spec
      .template.spec.containers[0];

  testWithHelm(
    'a variable of a service is used before one of all services, and both before the one of the manifests',
    () => {
      const objects = render({
        env: { SHUTDOWN_DRAIN_MS: '6000', LOG_LEVEL: 'debug', RATE_LIMIT_PER_KEY: '10' },
        services: { chat: { env: { LOG_LEVEL: 'warn' } } },
      });
      const valuesOf = (service, variable) =>
        containerOf(objects, service)
          .env.filter(({ name }) => name === variable)
          .map(({ value }) => value);
      assert.deepEqual(valuesOf('chat', 'LOG_LEVEL'), ['warn']);
      assert.deepEqual(valuesOf('data', 'LOG_LEVEL'), ['debug']);
      assert.deepEqual(valuesOf('data', 'SHUTDOWN_DRAIN_MS'), ['6000']);
    },
  );

  testWithHelm('an image has the registry, and its digest instead of the tag', () => {
    const objects = render({
      image: { registry: 'ghcr.io/acme', tag: '1.2.3', digests: { webhookIngest: digest } },
    });
    assert.equal(
      containerOf(objects, 'webhook-ingest').image,
      `ghcr.io/acme/parley-webhook-ingest@${digest}`,
    );
    assert.equal(
      containerOf(objects, 'tool-executor').image,
      'ghcr.io/acme/parley-tool-executor:1.2.3',
    );
  });
});

const canonicalText = (objects) => objects.map((object) => JSON.stringify(object)).sort();

function mergeTwo(one, two) {
  const isObject = (value) => value && typeof value === 'object' && !Array.isArray(value);
  return Object.fromEntries(
    Object.entries(two).map(([key, value]) => [
      key,
      isObject(value) && isObject(one[key]) ? { ...one[key], ...mergeTwo(one[key], value) } : value,
    ]),
  );
}

/**
 * Values that are not objects with keys of their own, each with the comment above it. Digests share
 * one, as do requests and limits.
 */
function leavesOf(map, path = [], shared = '') {
  return map.items.flatMap(({ key, value }, at) => {
    const comment = key.commentBefore ?? (at === 0 ? map.commentBefore : undefined) ?? shared;
    const inner = [...path, key.value];
    if (!isMap(value) || value.items.length === 0) return [{ path: inner.join('.'), comment }];
    return leavesOf(
      value,
      inner,
      /^(digests|resources|requests|limits)$/.test(key.value) ? comment : '',
    );
  });
}
