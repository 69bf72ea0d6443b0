import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { chart } from './chart.mjs';
import { findKubernetesTool } from './kubernetes-tools.mjs';

export const helm = findKubernetesTool('helm');
const skip = !helm && !process.env.CI && 'Helm was not found. Install Helm 3.17 or later';

/**
 * A test that runs Helm. It is skipped where none can be fetched for the platform and none is
 * installed; on CI it fails.
 * @param {string} name
 * @param {() => void} run
 */
export const testWithHelm = (name, run) => test(name, { skip }, run);

/**
 * Renders the chart with values, and with files of values before them.
 * @returns {any[]} the objects
 */
export function render(values = {}, files = []) {
  const { status, stdout, stderr } = runHelm(
    ['template', 'parley', chart, '--namespace', 'parley'],
    values,
    files,
  );
  if (status !== 0) throw new Error(stderr);
  return readObjects(stdout);
}

/** Runs a command of Helm that accepts values. */
export function runHelm(args, values = {}, files = []) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-values-'));
  try {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, stringify(values, { version: '1.1' }));
    const options = [...files, file].flatMap((path) => ['--values', path]);
    return spawnSync(helm, [...args, ...options], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Reads YAML 1.1, in which "yes" is true, as Kubernetes does. */
export const readObjects = (text) =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS())
    .filter(Boolean);

/** The containers and init containers of objects. */
export const containers = (objects) =>
  objects.flatMap(({ spec }) => {
    const { initContainers = [], containers: main = [] } = spec?.template?.spec ?? {};
    return [...initContainers, ...main];
  });
