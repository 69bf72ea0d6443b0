// node tools/release-notes.mjs <tag>: prints the section of CHANGELOG.md for a tag such as v0.1.0.
// Fails when the tag is not that of package.json, or the section has no date yet.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, print, runMain } from './start/output.mjs';
import { root } from './start/paths.mjs';

/**
 * @param {{ tag: string, version: string, changelog: string }} options the version of package.json,
 *   the text of CHANGELOG.md
 * @returns {string} Markdown without the heading
 */
export function releaseNotes({ tag, version, changelog }) {
  if (tag !== `v${version}`)
    throw new Problem(`The tag ${tag} is not v${version}, the version of package.json.`);
  const sections = changelog.split(/^## /m).slice(1);
  const heading = new RegExp(`^${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d{2}-\\d{2}\\)\n`);
  const section = sections.find((text) => heading.test(text));
  if (!section)
    throw new Problem(
      `CHANGELOG.md has no section "## ${version} (YYYY-MM-DD)". Rename "Unreleased".`,
    );
  return section.replace(heading, '').trim();
}

if (process.argv[1] === import.meta.filename)
  await runMain(() => {
    const read = (name) => readFileSync(join(root, name), 'utf8');
    const { version } = JSON.parse(read('package.json'));
    print(releaseNotes({ tag: process.argv[2] ?? '', version, changelog: read('CHANGELOG.md') }));
  });
