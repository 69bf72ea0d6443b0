import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Redis from 'ioredis';
import { startRedis } from './start-redis';

const folder = mkdtempSync(join(tmpdir(), 'parley-embedded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function command(url: string, ...args: [string, ...string[]]): Promise<unknown> {
  const redis = new Redis(url);
  try {
    return await redis.call(...args);
  } finally {
    redis.disconnect();
  }
}

describe('startRedis', () => {
  it('keeps data between runs and never evicts', async () => {
    const first = await startRedis({ dataDir: folder });
    await command(first.url, 'SET', 'kept', 'yes');
    expect(await command(first.url, 'CONFIG', 'GET', 'maxmemory-policy')).toContain('noeviction');
    await first.stop();

    const second = await startRedis({ dataDir: folder });
    expect(await command(second.url, 'GET', 'kept')).toBe('yes');
    await second.stop();
  });
});
