// node tools/audit.mjs [--required]: exits with status 1 when a shipped package has a known
// vulnerability of high severity. A registry without advisories is reported, and is a failure only
// with --required (for releases).
import { spawnSync } from 'node:child_process';
import { root } from './start/paths.mjs';

const args = [
  'audit',
  '--omit=dev',
  '--audit-level=high',
  '--json',
  '--package-lock-only',
  '--fetch-retries=0',
];
const { stdout, error } = spawnSync('npm', [...args, '--fetch-timeout=15000'], {
  cwd: root,
  encoding: 'utf8',
});
const report = parse(stdout);
const counted = report?.metadata?.vulnerabilities;
if (counted === undefined) {
  const reason = report?.message ?? report?.error?.summary ?? error?.message ?? 'no output of npm';
  console.log(`Packages were NOT audited: the registry returned no advisories (${reason}).`);
  if (process.argv.includes('--required')) process.exitCode = 1;
} else {
  const found = Object.values(report.vulnerabilities).filter(({ severity }) =>
    /^(high|critical)$/.test(severity),
  );
  for (const { name, severity, range } of found) console.log(`${severity}: ${name} ${range}`);
  console.log(
    `Packages were audited: ${found.length} with a known vulnerability of high or critical severity.`,
  );
  if (found.length > 0) process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
