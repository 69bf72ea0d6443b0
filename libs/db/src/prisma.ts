import { PrismaPg } from '@prisma/adapter-pg';
import type { Db } from './client';
import { PrismaClient } from './generated/client';

const clients = new WeakMap<Db, PrismaClient>();

/**
 * Returns the Prisma client of a database, for tests (docs/adr/0089). Uses the connections of `db`.
 */
export function prismaOf(db: Db): PrismaClient {
  let client = clients.get(db);
  if (client === undefined) {
    client = new PrismaClient({ adapter: new PrismaPg(db.pool) });
    clients.set(db, client);
  }
  return client;
}
