import { io, pathOf } from '../command-io';
import { checkGateway, checkKey, checkModels, checkServices } from '../doctor/check-http';
import { checkDatabase, checkRedis } from '../doctor/check-stores';
import type { Finding, State } from '../doctor/finding';
import { writeBundle } from '../doctor/write-bundle';
import { exitCodes } from '../failure';
import { folders, kindsIn } from '../push/load-folder';
import { safeLine } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

const marks: Record<State, () => string> = {
  ok: () => colors.green('ok     '),
  warning: () => colors.yellow('warning'),
  failed: () => colors.red('failed '),
  skipped: () => colors.dim('skipped'),
};

/**
 * `parley doctor`: checks everything that Parley needs, as far as it is configured here, and shows
 * how to fix problems.
 */
export async function runDoctor({
  bundle,
  json,
}: {
  bundle?: string;
  json?: boolean;
}): Promise<void> {
  const findings: Finding[] = [];
  for (const check of [
    checkNode,
    checkProject,
    checkGateway,
    checkKey,
    checkServices,
    checkDatabase,
    checkRedis,
    checkModels,
  ]) {
    for (const finding of await check()) {
      findings.push(finding);
      if (json) continue;
      print(`${marks[finding.state]()}  ${finding.name}: ${safeLine(finding.detail)}`);
      if (finding.fix !== undefined) print(`         ${colors.dim('→')} ${safeLine(finding.fix)}`);
    }
  }
  const failed = findings.filter(({ state }) => state === 'failed');
  if (bundle !== undefined) {
    await writeBundle(bundle, findings);
    note(`Wrote ${bundle}. Secrets are replaced; read it before you send it.`);
  }
  if (json) printJson({ ok: failed.length === 0, findings });
  else
    note(
      failed.length === 0
        ? 'No checks failed.'
        : `${failed.length} of ${findings.length} checks failed.`,
    );
  if (failed.length > 0) io().exitCode = exitCodes.failure;
}

async function checkNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return [
    {
      name: 'Node.js',
      state: isOld ? 'failed' : 'ok',
      detail: process.versions.node,
      ...(isOld && { fix: 'Install Node.js 24. The oldest supported version is 20.19' }),
    },
  ];
}

async function checkProject(): Promise<Finding[]> {
  const has = kindsIn(pathOf('.')).map((kind) => folders[kind]);
  return [
    has.length > 0
      ? { name: 'Project', state: 'ok', detail: `this folder has ${has.join(', ')}` }
      : {
          name: 'Project',
          state: 'skipped',
          detail: 'no definitions in this folder',
          fix: 'Create a project with: parley init my-project',
        },
  ];
}
