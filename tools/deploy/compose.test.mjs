import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { root } from '../start/paths.mjs';
import { loadServiceVariables } from './service-variables.mjs';

const compose = parse(readFileSync(join(root, 'docker', 'compose.yaml'), 'utf8'), { merge: true });
const variables = await loadServiceVariables();
const services = Object.keys(variables);
const stores = ['postgres', 'redis'];
/**
 * Variables that compose.yaml does not set, because the defaults of the image are used.
 * STAND_INS_URL is for development.
 */
const fixed = [
  'NODE_ENV',
  'HOST',
  'PORT',
  'INTERNAL_PORT',
  'EXECUTOR_SANDBOX_UID',
  'STAND_INS_URL',
];

/** @returns {Set<string>} the services that start before a service and stop after it */
function startedBefore(service, found = new Set()) {
  for (const name of Object.keys(compose.services[service].depends_on ?? {})) {
    if (!found.has(name)) startedBefore(name, found.add(name));
  }
  return found;
}

const seconds = (text) => Number(/^(\d+)s$/.exec(text)[1]);

describe('compose', () => {
  test('passes each service all of its variables, and no others', () => {
    for (const app of services) {
      const given = Object.keys(compose.services[app].environment)
        .filter((name) => name !== 'RECREATE_WHEN_CHANGED')
        .map((name) => name.replace(/_FILE$/, ''));
      assert.deepEqual(
        [...given, ...fixed].filter((name) => variables[app][name]).sort(),
        Object.keys(variables[app]).sort(),
        app,
      );
      assert.deepEqual(
        given.filter((name) => !variables[app][name]),
        [],
        `variables that ${app} does not have`,
      );
    }
  });

  test('passes secrets as files or from the shell, and none to the gateway', () => {
    for (const [name, { environment = {} }] of Object.entries(compose.services)) {
      for (const [variable, value] of Object.entries(environment)) {
        if (/(KEY|TOKEN|SECRET|PASSWORD|DATABASE_URL)$/.test(variable))
          assert.equal(value, null, `${name} ${variable}`);
      }
    }
    assert.deepEqual(compose.services.gateway.volumes, undefined);
  });

  test('limits the logs and the memory of every container, and stores no key in a log', () => {
    for (const [name, { logging, mem_limit: limit }] of Object.entries(compose.services)) {
      assert.match(limit, /^\d+m$/, name);
      const { driver, options = {} } = logging;
      if (name === 'demo') assert.equal(driver, 'none');
      else
        assert.match(
          `${driver} ${options['max-size']} ${options['max-file']}`,
          /^local \d+m \d+$/,
          name,
        );
    }
  });

  test('runs our containers with a read-only root and without capabilities', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      if (stores.includes(name)) continue;
      assert.equal(service.read_only, true, name);
      assert.equal(service.init, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.user, undefined, name); // the user of the image, which is not root
    }
  });

  test('opens one port, on localhost only, and keeps user code away from the stores', () => {
    const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
    assert.deepEqual(
      open.map(([name, { ports }]) => [name, ports]),
      [['gateway', ['127.0.0.1:${PARLEY_PORT:-4000}:4000']]],
    );
    assert.equal(compose.networks.stores.internal, true);
    for (const app of services) {
      assert.equal(
        compose.services[app].networks.includes('stores'),
        'DATABASE_URL' in variables[app],
        app,
      );
    }
  });

  test('gives a service more time to stop than its slowest request takes', () => {
    const { CHAT_DEADLINE_MS } = variables.gateway;
    for (const app of services) {
      const { environment, stop_grace_period: grace } = compose.services[app];
      const shutdownMs = Number(/:-(\d+)}$/.exec(environment.SHUTDOWN_TIMEOUT_MS)[1]);
      assert.ok(seconds(grace) * 1_000 > shutdownMs, app);
      assert.ok(shutdownMs > CHAT_DEADLINE_MS.default, app);
    }
  });

  test('stops a service before the services that it calls, and the stores last', () => {
    const calls = {
      gateway: services.filter((name) => name !== 'gateway'),
      worker: ['chat', 'tool-executor', ...stores],
      chat: ['tool-executor', 'postgres'],
      data: ['tool-executor', ...stores],
      'webhook-ingest': stores,
    };
    for (const [service, called] of Object.entries(calls)) {
      const before = startedBefore(service);
      for (const name of called) assert.ok(before.has(name), `${service} before ${name}`);
      // A store must be a direct dependency: a finished one-shot container between them does
      // not delay its stop.
      for (const store of stores.filter((name) => called.includes(name))) {
        assert.ok(store in compose.services[service].depends_on, `${service} before ${store}`);
      }
    }
    assert.equal(compose.services.postgres.stop_signal, 'SIGINT');
  });

  test('recreates a container when one of its file secrets changes in the shell', () => {
    const given = Object.keys(compose.services.secrets.environment);
    for (const app of services) {
      const { environment } = compose.services[app];
      const read = given.filter((name) => `${name}_FILE` in environment);
      // The secrets of this service only.
      assert.equal(
        environment.RECREATE_WHEN_CHANGED,
        read.map((name) => `\${${name}:-}`).join(' ') || undefined,
        app,
      );
    }
  });
});

describe('the secrets of a compose stack', () => {
  const volumes = ['secrets', 'database', 'postgres', 'executor', 'webhooks', 'messaging'];
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
    for (const volume of volumes) mkdirSync(join(folder, volume));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const make = (env = {}) => {
    const script = join(root, 'docker', 'make-secrets.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, folder], {
      env,
      encoding: 'utf8',
    });
    return { status, stderr };
  };
  const read = (file) => readFileSync(join(folder, file), 'utf8');
  const all = () =>
    Object.fromEntries(
      volumes.flatMap((name) =>
        readdirSync(join(folder, name)).map((file) => [`${name}/${file}`, read(`${name}/${file}`)]),
      ),
    );

  test('a service mounts the secrets that it reads, and no others', () => {
    assert.equal(make().status, 0);
    for (const [
      name,
      { volumes: mounts = [], environment = {}, entrypoint = [] },
    ] of Object.entries(compose.services)) {
      if (name === 'secrets') continue;
      const used = [...Object.values(environment), ...entrypoint].join('\n');
      const readFiles = [...used.matchAll(/\/var\/lib\/parley\/(\w+\/[\w-]+)/g)].map(
        ([, file]) => file,
      );
      const mounted = mounts.flatMap((mount) => {
        const [, target, mode] = mount.split(':');
        const volume = target.replace('/var/lib/parley/', '');
        if (!volumes.includes(volume)) return [];
        assert.equal(mode, 'ro', name);
        return readdirSync(join(folder, volume)).map((file) => `${volume}/${file}`);
      });
      const secret = readFiles.filter((file) => !file.startsWith('state/'));
      assert.deepEqual(mounted.sort(), secret.sort(), name);
    }
    assert.deepEqual(
      Object.keys(compose.services).filter((name) =>
        compose.services[name].volumes?.includes('secrets:/var/lib/parley/secrets:ro'),
      ),
      ['chat', 'worker', 'manage', 'cli'],
    );
  });

  test('are created once, readable by their owner alone, and one that is given replaces its file', () => {
    make();
    const first = all();
    assert.equal(Object.keys(first).length, 7);
    for (const file of Object.keys(first))
      assert.equal(statSync(join(folder, file)).mode & 0o777, 0o400, file);
    assert.equal(
      first['database/database-url'],
      `postgresql://parley:${first['postgres/postgres-password']}@postgres:5432/parley`,
    );
    make({ EMAIL_WEBHOOK_SECRET: 'given' });
    assert.deepEqual(all(), { ...first, 'webhooks/email-webhook-secret': 'given' });
  });

  test('a SECRETS_KEY of another stack is refused, and one beside the stored key replaces it', () => {
    assert.equal(make({ SECRETS_KEY: 'first' }).status, 0);
    const { status, stderr } = make({ SECRETS_KEY: 'other' });
    assert.equal(status, 1);
    assert.match(stderr, /NEW,OLD/);
    assert.equal(read('secrets/secrets-key'), 'first');
    for (const keys of ['second,first', 'second']) {
      make({ SECRETS_KEY: keys });
      assert.equal(read('secrets/secrets-key'), keys);
    }
  });

  test('have mount points in the image, whose owner new volumes adopt', () => {
    const [, folders] = /for folder in ([\w ]+); do mkdir/.exec(
      readFileSync(join(root, 'docker', 'Dockerfile'), 'utf8'),
    );
    assert.deepEqual(folders.split(' ').sort(), [...volumes, 'state', 'backups'].sort());
  });
});

test('the build context has no secrets, no state, no tests and no installed packages', () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  assert.ok(
    rules.indexOf('*') >= 0 && rules.indexOf('*') < rules.findIndex((rule) => rule.startsWith('!')),
  );
  for (const rule of ['**/node_modules', '**/.parley', '**/.env*', '**/*.test.ts'])
    assert.ok(rules.includes(rule), rule);
  const admitted = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  assert.deepEqual(
    admitted.filter((name) => /^\.|dist|docs|k8s/.test(name)),
    [],
  );
});

test('the commands of the guide name services that exist', () => {
  const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
  const commands = [
    ...page.matchAll(/^docker compose -f docker\/compose\.yaml (\w+)([^#<>\n]*)/gm),
  ];
  assert.ok(commands.length >= 16);
  for (const [line, command, rest] of commands) {
    const words = rest
      .replace(/--entrypoint \w+/, '')
      .split(' ')
      .filter((word) => word && !word.startsWith('-'));
    const named = command === 'run' ? words.slice(0, 1) : words;
    assert.ok(command !== 'run' || named.length === 1, line);
    for (const name of named) assert.ok(name in compose.services, line);
  }
});

test('the health check uses the internal port of each service', () => {
  const text = readFileSync(join(root, 'docker', 'health.cjs'), 'utf8');
  for (const app of services) {
    const port = variables[app].INTERNAL_PORT.default;
    assert.match(text, new RegExp(`['\\s]${app}'?: ${port},`), app);
  }
});
