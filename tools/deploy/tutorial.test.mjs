// docs/tutorials/laptop-to-cluster.md, and what docs/operations.md has in common with it: its
// commands make an overlay without placeholders, and its secrets are those of the manifests.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../start/paths.mjs';
import { objectsOf, readOverlay } from './overlays.mjs';

const page = readFileSync(join(root, 'docs/tutorials/laptop-to-cluster.md'), 'utf8');
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text);
const blockWith = (text) => blocks.find((block) => block.includes(text));

test('the commands of the page replace every placeholder of the production overlay', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tutorial-'));
  try {
    cpSync(join(root, 'k8s'), join(folder, 'k8s'), { recursive: true });
    // Without kubectl the files of the overlay are read as they are.
    const commands = blockWith('cp -r k8s')
      .split('\n')
      .filter((line) => !/kubectl|grep/.test(line));
    execFileSync('bash', ['-ec', blockWith('export REGISTRY') + commands.join('\n')], {
      cwd: folder,
    });
    const files = ['kustomization.yaml', 'stores.yaml'];
    const overlay = files
      .map((name) => readFileSync(join(folder, 'k8s/overlays/acme', name), 'utf8'))
      .join('\n');
    assert.doesNotMatch(overlay, /example\.com|192\.0\.2\./);
    assert.equal(overlay.match(/registry\.acme\.test\/parley-[\w-]+, newTag: 0\.1\.0/g).length, 8);
    assert.match(overlay, /PUBLIC_URL, value: 'https:\/\/parley\.acme\.test'/);
    assert.match(overlay, /cidr: 10\.20\.0\.0\/28[^]*cidr: 10\.20\.0\.16\/28/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the page creates the secrets that the production manifests read', () => {
  const required = new Map();
  const visit = (value) => {
    if (typeof value !== 'object' || value === null) return;
    const { name, key, optional } = value.secretKeyRef ?? {};
    if (key !== undefined && !optional) required.set(`${name}.${key}`, true);
    Object.values(value).forEach(visit);
  };
  objectsOf(readOverlay('production')).forEach(visit);
  const created = new Set();
  for (const [, name, rest] of blockWith('create secret').matchAll(
    /secret generic (\S+)((?: \\\n)?(?:.*\\\n)*.*)/g,
  ))
    for (const [, key] of rest.matchAll(/--from-literal=(\w+)=/g)) created.add(`${name}.${key}`);
  assert.ok(required.size >= 5);
  assert.deepEqual(
    [...required.keys()].filter((key) => !created.has(key)),
    [],
  );
});

test('the shell function of the guide passes a command unchanged to the pod of the command line, and prints to no log', () => {
  const guide = readFileSync(join(root, 'docs/operations.md'), 'utf8');
  const [definition, ...others] = new Set(`${guide}\n${page}`.match(/\bparley\(\) \{.*/g));
  assert.deepEqual(others, []);
  const folder = mkdtempSync(join(tmpdir(), 'parley-guide-'));
  try {
    const stub = join(folder, 'kubectl');
    writeFileSync(
      stub,
      `#!${process.execPath}\nconsole.log(JSON.stringify(process.argv.slice(2)));\n`,
    );
    chmodSync(stub, 0o755);
    const command = `parley keys create --permissions '*' --name "a 'quoted' \\"name\\""`;
    const printed = execFileSync('bash', ['-c', `${definition}\n${command}`], {
      env: { PATH: `${folder}:/bin:/usr/bin` },
      encoding: 'utf8',
    });
    const [pod] = objectsOf(readOverlay('production')).filter(({ kind }) => kind === 'StatefulSet');
    const entry = /ENTRYPOINT (.*)/.exec(readFileSync(join(root, 'docker/Dockerfile'), 'utf8'))[1];
    assert.deepEqual(JSON.parse(printed), [
      ...[
        '-n',
        pod.metadata.namespace,
        'exec',
        '-i',
        `${pod.metadata.name}-0`,
        '--',
        ...JSON.parse(entry),
      ],
      ...['keys', 'create', '--permissions', '*', '--name', `a 'quoted' "name"`],
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
  // The output of a container that "kubectl run" starts is its log.
  assert.doesNotMatch(`${guide}\n${page}`, /kubectl (-n parley )?run /);
});
