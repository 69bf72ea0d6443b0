// Paths of source files that the documentation cites, in `code` and as targets of links.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../start/paths.mjs';
import { listFiles, listProjects, readFiles } from './files.mjs';

/** Pages that also name files of a user's project, such as `tools/orders.ts`. */
const aboutProjectsOfUsers = /^docs\/(tutorials\/|cli\.md$|custom-tools\.md$)/;

const beginsAtRoot = /^(apps|libs|prisma|docker|k8s|docs|\.github|\.ci)\//;
const isSourceFile = /\.(ts|tsx|mjs|cjs|sql|prisma)$/;

/** Generated files that Git ignores, and methods of MCP. */
const notInGit = new Set(['libs/db/src/generated', 'docker/.env', 'tools/list', 'tools/call']);

/** A path within `code`, without a scheme, a leading slash or the name of a package before it. */
const pathInCode = /(?<![\w/@:.{}$-])[\w.@*-]+(?:\/[\w.@*-]+)*/g;

/** `*`, and words in capitals in place of a name, as in `apps/SERVICE/src/routes/ACTION.ts`. */
const placeholder = /\*+|(?<=^|\/)[A-Z]{3,}(?=\.|\/|$)/g;

export const pages = () =>
  readFiles('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'docs/*.md', 'apps/*.md');

/**
 * Cited paths that do not exist. A path may begin at the root, at the name of an app or library
 * (`agents/run-chat`), or anywhere below (`routes/chat.ts`).
 * @param {{ path: string, text: string }[]} documents
 * @returns {string[]} each as `page:line: path`.
 */
export function deadPaths(documents) {
  const isKnown = knownPaths();
  return documents.flatMap(({ path: page, text }) =>
    text.split('\n').flatMap((line, at) => {
      const dead = citedPaths(page, line).filter(
        (cited) => !notInGit.has(cited) && !isKnown(cited),
      );
      const deadLinks = linkTargets(line).filter(
        (target) => !existsSync(join(root, dirname(page), target)),
      );
      return [...dead, ...deadLinks].map((cited) => `${page}:${at + 1}: ${cited}`);
    }),
  );
}

function citedPaths(page, line) {
  const paths = [...line.matchAll(/`([^`]+)`/g)]
    .flatMap(([, code]) => code.match(pathInCode) ?? [])
    .map((path) => path.replace(/\.+$/, ''));
  if (aboutProjectsOfUsers.test(page)) return paths.filter((path) => beginsAtRoot.test(path));
  return paths.filter(
    (path) => beginsAtRoot.test(path) || isSourceFile.test(path) || beginsAtProject(path),
  );
}

const beginsAtProject = (path) => path.includes('/') && projectNames.has(path.split('/')[0]);

/** Targets without a scheme. */
const linkTargets = (line) =>
  [...line.matchAll(/\]\(([^)#\s:]+)(?:#[^)]*)?\)/g)].map(([, target]) => target);

/** Answers whether a file or folder has a path, as the end of its own. */
function knownPaths() {
  const ends = new Set();
  for (const file of listFiles()) {
    const parts = file.split('/');
    for (let to = 1; to <= parts.length; to += 1) {
      for (let from = 0; from < to; from += 1) ends.add(parts.slice(from, to).join('/'));
    }
  }
  const isKnown = (path) => {
    if (ends.has(path)) return true;
    if (!path.match(placeholder)) return false;
    const pattern = new RegExp(`^${path.split(placeholder).map(escaped).join('[^/]*')}$`);
    return [...ends].some((end) => pattern.test(end));
  };
  return (path) => {
    const inSources = path.replace('/', '/src/');
    return [path, inSources, `${inSources}.ts`, `${inSources}.tsx`].some(isKnown);
  };
}

const escaped = (text) => text.replace(/[.$]/g, '\\$&');

const projectNames = new Set(['tools', ...listProjects().map((project) => project.split('/')[1])]);
