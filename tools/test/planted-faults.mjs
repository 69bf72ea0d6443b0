// node tools/test/planted-faults.mjs [text…]: shows that the default run finds bugs. Each patch of
// tools/test/faults plants one in a copy of the sources, where the tests that its header names must
// fail. With a text only the patches whose name has it.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem, print, runMain } from '../start/output.mjs';
import { root } from '../start/paths.mjs';
import { ensureGenerated } from '../start/prisma.mjs';
import { startTestServers } from './servers.mjs';

const folder = join(import.meta.dirname, 'faults');

await runMain(async () => {
  const texts = process.argv.slice(2);
  const names = readdirSync(folder).filter((name) => name.endsWith('.patch'));
  const wanted = names.filter(
    (name) => texts.length === 0 || texts.some((text) => name.includes(text)),
  );
  if (wanted.length === 0) throw new Problem(`No patch of ${folder} matches ${texts.join(', ')}.`);
  const faults = wanted
    .sort()
    .map((name) => readFault(name, readFileSync(join(folder, name), 'utf8')));

  await ensureGenerated();
  const servers = await startTestServers();
  const copy = await copySources();
  const problems = [];
  try {
    const environment = { ...process.env, ...servers.env };
    // A test that fails without the fault proves nothing.
    const tests = [...new Set(faults.flatMap((fault) => fault.tests))];
    const failing = await filesOf(
      copy,
      tests,
      environment,
      (result) => result?.status !== 'passed',
    );
    for (const fault of faults) {
      const problem = await plant(copy, fault, failing, environment);
      print(problem === null ? `found      ${fault.name}` : `NOT FOUND  ${fault.name}: ${problem}`);
      if (problem !== null) problems.push(problem);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
    await servers.stop();
  }
  print(`${faults.length - problems.length} passed, ${problems.length} failed`);
  return problems.length === 0 ? 0 : 1;
});

/** The header of a patch says in words what it breaks, and has the line `Tests: FILE, FILE`. */
function readFault(name, text) {
  const header = text.slice(0, text.indexOf('\n--- '));
  const line = /^Tests: (.+)$/m.exec(header);
  if (line === null) throw new Problem(`${name} has no line "Tests: FILE" before the patch.`);
  return { name, tests: line[1].split(',').map((test) => test.trim()) };
}

/**
 * Copies what Git knows and does not ignore, with the generated database client. The
 * packages are shared.
 */
async function copySources() {
  const copy = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  const listed = await run(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    root,
  );
  const paths = listed.stdout
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)));
  for (const path of [...paths, join('libs', 'db', 'src', 'generated')])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Applies a fault, runs its tests and removes it. Returns why it counts as not found, or null. */
async function plant(copy, fault, failingBefore, environment) {
  const broken = fault.tests.filter((test) => failingBefore.has(test));
  if (broken.length > 0) return `${broken.join(', ')} fails or is missing without the fault`;
  const patch = ['apply', '--whitespace=nowarn', join(folder, fault.name)];
  const applied = await run('git', patch, copy);
  if (applied.code !== 0) return `the patch no longer applies: ${applied.stderr.trim()}`;
  try {
    // A file that cannot be run has found nothing.
    const hasFailed = ({ status }) => status === 'failed';
    const found = await filesOf(copy, fault.tests, environment, (result) =>
      result?.assertionResults.some(hasFailed),
    );
    return found.size > 0 ? null : `no test of ${fault.tests.join(', ')} fails with it`;
  } finally {
    await run('git', [...patch, '--reverse'], copy);
  }
}

/** Runs test files. Returns those whose result, undefined for one that was not run, is wanted. */
async function filesOf(copy, tests, environment, isWanted) {
  const found = new Set();
  for (const [project, files] of byProject(tests)) {
    const config = join(project, 'jest.config.cjs');
    const output = join(copy, 'jest-results.json');
    rmSync(output, { force: true });
    const jest = join('node_modules', 'jest', 'bin', 'jest.js');
    const options = [
      '-c',
      config,
      '--json',
      `--outputFile=${output}`,
      '--silent',
      '--runTestsByPath',
      ...files,
    ];
    await run(process.execPath, [jest, ...options], copy, environment);
    const results = existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')).testResults : [];
    for (const file of files) {
      const result = results.find(({ name }) => name.endsWith(`/${file}`));
      if (isWanted(result)) found.add(file);
    }
  }
  return found;
}

function byProject(tests) {
  return Map.groupBy(tests, (test) => test.split('/').slice(0, 2).join('/'));
}

function run(command, args, cwd, env = process.env) {
  return new Promise((resolve) => {
    execFile(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}
