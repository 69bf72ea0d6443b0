import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Problem, step } from './output.mjs';
import { root } from './paths.mjs';

const schemaFile = join(root, 'prisma', 'schema.prisma');
const marker = join(root, 'libs', 'db', 'src', 'generated', '.schema-hash');

/**
 * Runs `prisma generate` when the schema or the version of Prisma has changed since the last run.
 */
export async function ensureGenerated() {
  const prisma = join(root, 'node_modules', 'prisma');
  const hash = createHash('sha256')
    .update(readFileSync(schemaFile))
    .update(readFileSync(join(prisma, 'package.json')))
    .digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === hash) return;
  await step('Generating the database client', async () => {
    await promisify(execFile)(process.execPath, [join(prisma, 'build', 'index.js'), 'generate'], {
      cwd: root,
      // `prisma generate` downloads the schema engine, which it does not use, unless this names
      // an existing file.
      env: {
        ...process.env,
        PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
        CHECKPOINT_DISABLE: '1',
      },
    }).catch((error) => {
      throw new Problem(
        `prisma generate failed:\n${error.stderr || error.stdout || error.message}`,
      );
    });
    writeFileSync(marker, hash);
  });
}
