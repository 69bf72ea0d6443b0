import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { readHoldings } from './holdings.mjs';
import { objectsOf, overlays, readOverlay } from './overlays.mjs';
import { parseQuantity, podNeeds } from './requests.mjs';
import { loadServiceVariables } from './service-variables.mjs';

const variables = await loadServiceVariables();
const services = Object.keys(variables);
const holdings = readHoldings();
const { neededBytes } = await loadTypescript(
  "export * from './apps/tool-executor/src/fit-processes'",
  'fit-processes',
);
const page = readFileSync(join(root, 'docs', 'operations.md'), 'utf8');
const mebibyte = 1024 * 1024;
const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/** The number that the page states, as in "needs at most 310". */
const stated = (pattern) => Number(pattern.exec(page)[1].replace(',', ''));

const capacityOf = (overlay) => {
  const objects = objectsOf(readOverlay(overlay));
  const find = (kind, name) =>
    objects.find((one) => one.kind === kind && one.metadata.name === name);
  const podOf = (name) =>
    (find('Deployment', name) ?? find('StatefulSet', name)).spec.template.spec;
  const replicasOf = (name) =>
    find('HorizontalPodAutoscaler', name)?.spec.maxReplicas ??
    find('Deployment', name).spec.replicas ??
    1;
  const valueOf = (name, variable) =>
    Number(
      podOf(name).containers[0].env.find((one) => one.name === variable)?.value ??
        variables[name][variable].default,
    );
  return { objects, podOf, replicasOf, valueOf };
};

test('the table has a row for each process', () => {
  assert.deepEqual(Object.keys(holdings).sort(), [...services, 'migrate', 'cli'].sort());
});

for (const overlay of overlays) {
  const { podOf, replicasOf, valueOf } = capacityOf(overlay);
  /** During an upgrade a service has one pod more. */
  const podsAtMost = (name) => replicasOf(name) + 1;

  describe(`overlay ${overlay}`, () => {
    test('a container has the memory of the table, or a process that is configured to need less', () => {
      for (const name of services) {
        const [container] = podOf(name).containers;
        const limitMiB = parseQuantity(container.resources.limits.memory) / mebibyte;
        if (name === 'tool-executor') {
          assert.ok(limitMiB * mebibyte >= neededBytes(valueOf(name, 'EXECUTOR_MAX_PROCESSES')));
          assert.ok(limitMiB <= holdings[name].memoryMiB);
        } else assert.equal(limitMiB, holdings[name].memoryMiB, name);
        for (const { resources } of podOf(name).initContainers ?? [])
          assert.equal(
            parseQuantity(resources.limits.memory) / mebibyte,
            holdings.migrate.memoryMiB,
            name,
          );
      }
    });

    test('all replicas together have no more connections than PostgreSQL and Redis accept', () => {
      const withDatabase = services.filter((name) => 'DATABASE_URL' in variables[name]);
      const postgres =
        sum(withDatabase.map((name) => podsAtMost(name) * valueOf(name, 'DATABASE_POOL_SIZE'))) +
        holdings.cli.postgres;
      const withReplica = services.filter((name) => 'READ_DATABASE_URL' in variables[name]);
      const replica = sum(withReplica.map((name) => podsAtMost(name) * holdings[name].replica));
      const redis =
        sum(services.map((name) => podsAtMost(name) * holdings[name].redis)) + holdings.cli.redis;
      if (overlay === 'production') {
        assert.equal(stated(/production overlay needs (\d+):/), postgres);
        assert.ok(stated(/`max_connections` to at least (\d+)/) >= postgres + superusers);
        assert.equal(stated(/production overlay needs at most (\d+),/), redis);
        assert.equal(stated(/production overlay needs (\d+) of them/), replica);
        for (const name of services)
          assert.equal(
            holdings[name].replica,
            withReplica.includes(name) ? valueOf(name, 'READ_DATABASE_POOL_SIZE') + 1 : 0,
            name,
          );
        for (const name of withDatabase)
          assert.equal(valueOf(name, 'DATABASE_POOL_SIZE'), holdings[name].postgres, name);
      } else {
        assert.equal(stated(/pools of 5 and needs (\d+) of/), postgres);
        assert.ok(postgres + superusers <= defaultMaxConnections);
        const limit =
          parseQuantity(podOf('postgres').containers[0].resources.limits.memory) / mebibyte;
        assert.ok(limit >= postgres * connectionMiB + sharedMiB);
      }
    });

    test('requests are lower than limits', () => {
      for (const name of services)
        assert.ok(
          podNeeds(podOf(name), 'memory') < podNeeds(podOf(name), 'memory', 'limits'),
          name,
        );
    });
  });
}

/** `superuser_reserved_connections` and `max_connections` of PostgreSQL, unless they are set. */
const superusers = 3;
const defaultMaxConnections = 100;
/**
 * A connection with its prepared statements, and `shared_buffers` with what
 * PostgreSQL itself needs.
 */
const connectionMiB = 38;
const sharedMiB = 256;

test('production requests what was measured, and its autoscalers add a process before one CPU is used', () => {
  const { objects, podOf } = capacityOf('production');
  const [, section] = page.split('### What a process requests\n');
  const rows = [...section.split('\n###')[0].matchAll(/^\| ([\w-]+)((?: \| \d+){5}) \|$/gm)];
  assert.deepEqual(rows.map(([, name]) => name).sort(), [...services].sort());
  for (const [, name, values] of rows) {
    const [, measuredCpu, measuredMiB, cpu, memoryMiB] = values.match(/\d+/g).map(Number);
    const { requests } = podOf(name).containers[0].resources;
    assert.deepEqual(requests, { cpu: `${cpu}m`, memory: `${memoryMiB}Mi` }, name);
    assert.ok(cpu >= measuredCpu && memoryMiB >= measuredMiB, name);
    const { metrics } = objects.find(
      (one) => one.kind === 'HorizontalPodAutoscaler' && one.metadata.name === name,
    ).spec;
    const { averageValue } = metrics.find(({ resource }) => resource?.name === 'cpu').resource
      .target;
    assert.equal(averageValue, name === 'tool-executor' ? '700m' : '400m');
    assert.ok(parseQuantity(averageValue) > measuredCpu / 1_000);
  }
});

test('the local overlay runs, and replaces all services at the same time, on a machine with one CPU', () => {
  const { objects } = capacityOf('local');
  const workloads = objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
  const millicores = (kinds) =>
    Math.round(
      1000 *
        sum(
          workloads
            .filter(({ kind }) => kinds.includes(kind))
            .map(({ spec }) => podNeeds(spec.template.spec, 'cpu')),
        ),
    );
  const running = millicores(['Deployment', 'StatefulSet']);
  // The rest is for DNS, the network and what else the cluster itself runs.
  assert.ok(running <= 400, `${running} m`);
  assert.ok(running + millicores(['Deployment']) <= 700);
});

describe('compose', () => {
  const compose = parse(readFileSync(join(root, 'docker', 'compose.yaml'), 'utf8'), {
    merge: true,
  });
  const memoryMiB = (name) => Number(/^(\d+)m$/.exec(compose.services[name].mem_limit)[1]);

  test('a container has the memory and file handles of the table', () => {
    for (const name of [...services, 'migrate', 'cli']) {
      assert.equal(memoryMiB(name), holdings[name].memoryMiB, name);
      assert.ok(compose.services[name].ulimits.nofile >= holdings[name].fileHandles, name);
    }
    const { EXECUTOR_MAX_PROCESSES } = variables['tool-executor'];
    assert.ok(memoryMiB('tool-executor') * mebibyte >= neededBytes(EXECUTOR_MAX_PROCESSES.default));
  });

  test('the page states what all containers may use together', () => {
    const running = Object.keys(compose.services).filter(
      (name) => compose.services[name].restart !== 'no',
    );
    assert.equal(stated(/containers add up to (\d+) MiB/), sum(running.map(memoryMiB)));
  });

  test('PostgreSQL has memory for all connections, and Redis for its copy of what changes', () => {
    const connections = sum([...services, 'cli'].map((name) => holdings[name].postgres));
    assert.ok(connections + superusers <= defaultMaxConnections);
    assert.ok(memoryMiB('postgres') >= connections * connectionMiB + sharedMiB);
    const { command } = compose.services.redis;
    assert.ok(
      memoryMiB('redis') >= 1.5 * parseInt(command[command.indexOf('--maxmemory') + 1], 10),
    );
  });
});
