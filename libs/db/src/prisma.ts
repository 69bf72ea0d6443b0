import { PrismaPg } from '@prisma/adapter-pg';
import type { Db } from './client';
import { PrismaClient } from './generated/client';

const clients = new WeakMap<Db, PrismaClient>();

/**
 * The Prisma client on a database, for what is neither hot nor a transition of a state. It costs a process about 60 MB, so it is
 * part only of the bundles that use it. Closing the database closes its connections.
 */
export function prismaOf(db: Db): PrismaClient {
  let client = clients.get(db);
  if (client === undefined) {
    client = new PrismaClient({ adapter: new PrismaPg(db.pool) });
    clients.set(db, client);
  }
  return client;
}
