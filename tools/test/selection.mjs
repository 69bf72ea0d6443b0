import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../start/output.mjs';
import { root } from '../start/paths.mjs';

/**
 * The layers, in the order in which they find a fault fastest, and their Nx targets. `lint-all` is
 * all of `lint` in one process, which takes a third of the time.
 */
export const layers = {
  unit: ['types', 'check', 'lint-all', 'test'],
  integration: ['e2e'],
  browser: ['e2e-browser'],
};
/** What `npm run test:long` runs in addition. */
const longTargets = ['test-partitioned'];

/**
 * What to run, by the arguments of `npm test`: `--layer=NAME`, `--long`, parts of folder names,
 * files, and options of Nx.
 * @param {string[]} args
 */
export function select(args) {
  const options = args.filter((arg) => arg.startsWith('-'));
  const names = args.filter((arg) => !arg.startsWith('-'));
  const isLong = options.includes('--long');
  const layer = options.find((option) => option.startsWith('--layer='))?.slice('--layer='.length);
  if (layer !== undefined && !(layer in layers))
    throw new Problem(`No layer is named ${layer}. Available: ${Object.keys(layers).join(', ')}.`);
  const projects = projectsOf(names.filter((name) => !isTestFile(name)));
  const targets = layer === undefined ? Object.values(layers).flat() : [...layers[layer]];
  if (projects !== null) targets.push('lint');
  return {
    isLong,
    layer,
    files: names.filter(isTestFile),
    projects,
    targets: isLong ? [...targets, ...longTargets] : targets,
    nxOptions: options.filter((option) => option !== '--long' && !option.startsWith('--layer=')),
  };
}

const isTestFile = (name) => /\.test\.(ts|mjs)$/.test(name);

/** Projects whose folder name contains one of the texts; null for all. */
function projectsOf(texts) {
  if (texts.length === 0) return null;
  const projects = ['apps', 'libs'].flatMap((folder) => readdirSync(join(root, folder)));
  const chosen = projects.filter((project) => texts.some((text) => project.includes(text)));
  if (chosen.length === 0)
    throw new Problem(`No project matches ${texts.join(', ')}. Available: ${projects.join(', ')}.`);
  return chosen;
}

/**
 * The commands that run single files: jest once for each configuration, and the runner of Node.js
 * for those of tools.
 * @param {string[]} files paths from the root
 */
export function commandsOf(files) {
  const byName = new Map();
  for (const path of files) {
    if (!existsSync(join(root, path)))
      throw new Problem(`${path} does not exist. Name a file by its path from the root.`);
    const [folder, project] = path.split('/');
    const isBrowser = path.startsWith('apps/e2e/src/browser/');
    const name = folder === 'tools' ? 'bootstrap' : `${project}${isBrowser ? '-browser' : ''}`;
    const start =
      folder === 'tools'
        ? ['--test', '--test-reporter=spec']
        : [
            'node_modules/jest/bin/jest.js',
            ...['-c', `${folder}/${project}/jest.${isBrowser ? 'browser.' : ''}config.cjs`],
            '--runTestsByPath',
          ];
    byName.set(name, [...(byName.get(name) ?? start), path]);
  }
  return [...byName].map(([name, args]) => ({ name: `${name}:file`, args }));
}
