import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';
import { readHoldings } from './holdings.mjs';

const { allocatorEnvironment, heapFlagsOf } = await loadTypescript(
  "export * from './libs/embedded/src/spawn-service'",
  'spawn-service',
);
const dockerfile = readFileSync(join(root, 'docker', 'Dockerfile'), 'utf8');

test('the images have the memory settings of npm start', () => {
  const [semiSpace] = heapFlagsOf('data');
  assert.equal(/ NODE_OPTIONS=(\S+)/.exec(dockerfile)[1], semiSpace);
  for (const [name, value] of Object.entries(allocatorEnvironment))
    assert.equal(new RegExp(` ${name}=(\\S+)`).exec(dockerfile)[1], value);
});

test('npm start gives a service the old generation that V8 derives from the limit of its container: half, at least 256 MB', () => {
  // Most of the limit of the tool executor is for its sandbox processes, which have their own.
  const { 'tool-executor': executor, migrate, cli, ...services } = readHoldings();
  assert.ok(executor && migrate && cli);
  for (const [name, { memoryMiB }] of Object.entries(services))
    assert.ok(
      heapFlagsOf(name).includes(`--max-old-space-size=${Math.max(256, memoryMiB / 2)}`),
      name,
    );
});
