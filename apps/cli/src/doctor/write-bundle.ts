import { closeSync, fstatSync, openSync, readSync, readdirSync } from 'node:fs';
import { arch, platform, release } from 'node:os';
import { join } from 'node:path';
import { writeArchive } from '../backup/archive';
import { findState, secretValues } from '../environment';
import { version } from '../version';
import type { Finding } from './finding';
import { createRedactor } from './redact-text';

/** The end of each log that the archive has. */
const maxLogBytes = 512 * 1024;

/**
 * Writes an archive for a request for support: versions, names of variables, the findings of
 * doctor, and the end of the logs of `npm start`. Secrets, keys, e-mail addresses and phone
 * numbers are replaced.
 */
export async function writeBundle(file: string, findings: readonly Finding[]): Promise<void> {
  const redact = createRedactor(secretValues());
  await writeArchive(file, { isCompressed: true }, async (add) => {
    const addText = (name: string, text: string) => add(name, Buffer.from(redact(text)));
    const versions = {
      parley: version,
      node: process.versions.node,
      system: `${platform()} ${release()} ${arch()}`,
    };
    await addText('versions.json', JSON.stringify(versions, null, 2));
    await addText('doctor.json', JSON.stringify(findings, null, 2));
    const logs = findState('logs');
    if (logs === null) return;
    for (const name of readdirSync(logs).filter((one) => /^[\w-]+\.log$/.test(one)))
      await addText(`logs/${name}`, endOf(join(logs, name)));
  });
}

/** The last lines of a file. The first one, which may be cut, is left out. */
function endOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxLogBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.toString();
    return size > maxLogBytes ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(file);
  }
}
