import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../start/paths.mjs';
import { loadServiceVariables } from './service-variables.mjs';

const compose = parse(readFileSync(join(root, 'docker', 'compose.yaml'), 'utf8'), { merge: true });
const variables = await loadServiceVariables();
const services = Object.keys(variables);
const stores = ['postgres', 'redis'];
/** What a container of compose has no use for: where it listens is the file's to say. */
const fixed = ['NODE_ENV', 'HOST', 'PORT', 'INTERNAL_PORT', 'EXECUTOR_SANDBOX_UID'];

/** @returns {Set<string>} those that start before a service and stop after it */
function startedBefore(service, found = new Set()) {
  for (const name of Object.keys(compose.services[service].depends_on ?? {})) {
    if (!found.has(name)) startedBefore(name, found.add(name));
  }
  return found;
}

const seconds = (text) => Number(/^(\d+)s$/.exec(text)[1]);

describe('compose', () => {
  test('gives a service what it requires, nothing that it does not know, and every variable that the shell has', () => {
    for (const app of services) {
      const given = Object.keys(compose.services[app].environment)
        .filter((name) => name !== 'REMADE_WITH')
        .map((name) => name.replace(/_FILE$/, ''));
      assert.deepEqual(
        [...given, ...fixed].filter((name) => variables[app][name]).sort(),
        Object.keys(variables[app]).sort(),
        app,
      );
      assert.deepEqual(
        given.filter((name) => !variables[app][name]),
        [],
        `${app} does not know them`,
      );
    }
  });

  test('hands secrets on as files, or from the shell, and keeps them from the code of users', () => {
    for (const [name, { environment = {} }] of Object.entries(compose.services)) {
      for (const [variable, value] of Object.entries(environment)) {
        if (/(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$/.test(variable))
          assert.equal(value, null, `${name} ${variable}`);
      }
    }
    assert.deepEqual(compose.services['tool-executor'].volumes, ['executor-secret:/var/lib/parley/executor:ro']);
    assert.deepEqual(compose.services.gateway.volumes, undefined);
  });

  test('runs each of our containers with a root that is read only and without capabilities', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      if (stores.includes(name)) continue;
      assert.equal(service.read_only, true, name);
      assert.equal(service.init, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.user, undefined, name); // the image's, which is not root
    }
  });

  test('opens one port, to this machine alone, and keeps code of users from the stores', () => {
    const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
    assert.deepEqual(
      open.map(([name, { ports }]) => [name, ports]),
      [['gateway', ['127.0.0.1:${PARLEY_PORT:-4000}:4000']]],
    );
    assert.equal(compose.networks.stores.internal, true);
    for (const app of services) {
      assert.equal(compose.services[app].networks.includes('stores'), 'DATABASE_URL' in variables[app], app);
    }
  });

  test('gives a service the time that its shutdown takes, which is longer than its slowest request', () => {
    const { CHAT_DEADLINE_MS } = variables.gateway;
    for (const app of services) {
      const { environment, stop_grace_period: grace } = compose.services[app];
      const shutdownMs = Number(/:-(\d+)}$/.exec(environment.SHUTDOWN_TIMEOUT_MS)[1]);
      assert.ok(seconds(grace) * 1_000 > shutdownMs, app);
      assert.ok(shutdownMs > CHAT_DEADLINE_MS.default, app);
    }
  });

  test('stops who is asked after those who ask, and the stores last', () => {
    const asks = {
      gateway: services.filter((name) => name !== 'gateway'),
      worker: ['chat', 'tool-executor', ...stores],
      chat: ['tool-executor', 'postgres'],
      data: ['tool-executor', ...stores],
      'webhook-ingest': stores,
    };
    for (const [service, asked] of Object.entries(asks)) {
      // Directly, where a store is concerned: a finished one-shot between them would not hold it up.
      const before = startedBefore(service);
      for (const name of asked) assert.ok(before.has(name), `${service} before ${name}`);
      for (const store of stores.filter((name) => asked.includes(name))) {
        assert.ok(store in compose.services[service].depends_on, `${service} before ${store}`);
      }
    }
    assert.equal(compose.services.postgres.stop_signal, 'SIGINT');
  });

  test('makes a container anew when a secret of it that is kept in a file is given or changes', () => {
    const given = Object.keys(compose.services.secrets.environment);
    for (const app of services) {
      const { environment } = compose.services[app];
      const read = given.filter((name) => `${name}_FILE` in environment);
      // Its own and no other's.
      assert.equal(environment.REMADE_WITH, read.map((name) => `\${${name}:-}`).join(' ') || undefined, app);
    }
  });
});

test('what an image is built from holds no secret, no state, no tests and no installed packages', () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  assert.ok(rules.indexOf('*') >= 0 && rules.indexOf('*') < rules.findIndex((rule) => rule.startsWith('!')));
  for (const rule of ['**/node_modules', '**/.parley', '**/.env*', '**/*.test.ts'])
    assert.ok(rules.includes(rule), rule);
  const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  assert.deepEqual(
    admitted.filter((name) => /^\.|dist|docs|k8s/.test(name)),
    [],
  );
});

test('the health check asks the port that each service has inside', () => {
  const text = readFileSync(join(root, 'docker', 'health.cjs'), 'utf8');
  for (const app of services) {
    const port = variables[app].INTERNAL_PORT.default;
    assert.match(text, new RegExp(`['\\s]${app}'?: ${port},`), app);
  }
});
