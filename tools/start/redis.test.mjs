import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openRedis } from './databases.mjs';

const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
after(() => rmSync(folder, { recursive: true }));

function announce(environment) {
  const script = `
    import { announceRedis } from ${JSON.stringify(new URL('./redis.mjs', import.meta.url).href)};
    import { runMain } from ${JSON.stringify(new URL('./output.mjs', import.meta.url).href)};
    await runMain(() => announceRedis(${JSON.stringify(environment)}, []));`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr };
}

test('without redis-server it says what will be done and how to choose otherwise', () => {
  const none = announce({ PATH: folder });
  assert.equal(none.status, 1);
  assert.match(
    none.output,
    /redis-server is not on the PATH\. Install Redis 7 or newer\.\n.*set REDIS_URL/,
  );

  writeFileSync(join(folder, 'apt-get'), '', { mode: 0o755 });
  const installs = announce({ PATH: folder });
  assert.equal(installs.status, 0);
  assert.match(
    installs.output,
    /not on the PATH\.\n {2}npm start installs it with apt-get, as root.*\n.*set REDIS_URL/,
  );
});

test('nothing is said when there is a redis-server, or REDIS_URL', () => {
  assert.deepEqual(announce({ PATH: '', REDIS_URL: 'redis://localhost' }), {
    status: 0,
    output: '',
  });
  writeFileSync(join(folder, 'redis-server'), '', { mode: 0o755 });
  assert.deepEqual(announce({ PATH: folder }), { status: 0, output: '' });
});

test('an address of sentinels is refused', async () => {
  process.env.REDIS_URL = 'redis-sentinel://:password@127.0.0.1:1/main';
  await assert.rejects(
    openRedis({}),
    /^Error: REDIS_URL must be a redis:\/\/ or rediss:\/\/ address\. Sentinels/,
  );
  delete process.env.REDIS_URL;
});
