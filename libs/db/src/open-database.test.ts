import { type Server, connect, createServer } from 'node:net';
import { once } from 'node:events';
import { createTestDatabase, freePort, until } from '@parley/testing';
import type { Db } from './client';
import { openDatabase } from './open-database';

const lines: string[] = [];
const log = {
  warn: (_fields: object, text: string) => void lines.push(text),
  info: (_fields: object, text: string) => void lines.push(text),
};
const open = (url: string): Promise<Db> =>
  openDatabase(
    { DATABASE_URL: url, DATABASE_POOL_SIZE: 2, DATABASE_TIMEOUT_MS: 30_000 },
    { name: 'parley-test', log },
  );
const closing: (() => Promise<unknown>)[] = [];

beforeEach(() => lines.splice(0));
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function databaseUrl(): Promise<URL> {
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  return new URL(database.url);
}

/** Forwards another port to PostgreSQL. */
async function forward(port: number, to: URL): Promise<Server> {
  const server = createServer((socket) => {
    const upstream = connect(Number(to.port), to.hostname);
    for (const side of [socket, upstream])
      side.on('error', () => socket.destroy() && upstream.destroy());
    socket.pipe(upstream).pipe(socket);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

test('waits for a database that starts later, and logs that it waits', async () => {
  const url = await databaseUrl();
  const port = await freePort();
  const opening = open(
    Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
  );
  await until(() => lines.length > 0);
  const forwarder = await forward(port, url);
  const db = await opening;
  closing.push(async () => forwarder.close());
  closing.push(() => db.close());
  expect(lines).toEqual(['waiting for a dependency', 'the dependency is available']);
  const { rows } = await db.pool.query(`select current_setting('application_name') as name`);
  expect(rows).toEqual([{ name: 'parley-test' }]);
});

test('refuses a schema of another version', async () => {
  const { href } = await databaseUrl();
  const db = await open(href);
  await db.pool.query(`delete from _prisma_migrations where migration_name like '%_baseline'`);
  await db.close();
  await expect(open(href)).rejects.toThrow(/lacks 1 migration.*Run: parley migrate/);
});
