// Citations of files, headings and ADRs that do not exist.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from '../start/paths.mjs';
import { readFiles } from './files.mjs';

const patterns = [
  '*.ts',
  '*.tsx',
  '*.mjs',
  '*.cjs',
  '*.md',
  '*.yaml',
  '*.prisma',
  '*.sql',
  '*.sh',
  '*Dockerfile',
  '.ci/run',
];

/** Files with text. Migrations are excluded, because they must not change once they have run. */
const files = readFiles(...patterns).filter(({ path }) => !path.startsWith('prisma/migrations/'));

const lines = files.flatMap(({ path, text }) =>
  text.split('\n').map((line, at) => ({ path, place: `${path}:${at + 1}`, text: line })),
);

const citedFile = /(?<![\w/:.*-])((?:\.{1,2}\/)*[\w/.-]+\.md)(?:#([\w-]+))?/g;

const headings = new Map();

/** The anchors of a Markdown file, as GitHub derives them from its headings. */
function anchorsOf(path) {
  if (!headings.has(path)) {
    const found = [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
    headings.set(path, new Set(found));
  }
  return headings.get(path);
}

/**
 * Citations whose target does not exist: `{ place, citation }`. A file name without a path may
 * be in any folder.
 */
export function deadCitations() {
  const names = new Set(files.map(({ path }) => basename(path)));
  const adrs = new Set(readdirSync(join(root, 'docs/adr')).map((name) => Number(name.slice(0, 4))));
  const dead = [];
  for (const { path, place, text } of lines) {
    const report = (citation) => dead.push({ place, citation });
    for (const [citation, file, anchor] of text.matchAll(citedFile)) {
      if (/(^|\/)prompts\//.test(file)) continue; // a file of a user's project
      const found = [join(root, dirname(path), file), join(root, file)].find((candidate) =>
        existsSync(candidate),
      );
      if (
        found === undefined
          ? file.includes('/') || !names.has(file)
          : anchor && !anchorsOf(found).has(anchor)
      )
        report(citation);
    }
    for (const [citation, anchor] of text.matchAll(/\]\(#([\w-]+)\)/g))
      if (!anchorsOf(join(root, path)).has(anchor)) report(citation);
    for (const [citation, number] of text.matchAll(/\b(?:ADR |adr\/)(\d+)/g))
      if (!adrs.has(Number(number))) report(citation);
    for (const [citation] of text.matchAll(/\bissue \d+/gi)) report(citation);
  }
  return dead;
}
