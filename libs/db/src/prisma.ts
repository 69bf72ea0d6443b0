import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { PrismaClient } from './generated/client';

const clients = new WeakMap<pg.Pool, PrismaClient>();

/**
 * The Prisma client on a pool, for what is neither hot nor a transition of a state. It costs a process about 60 MB, so it is
 * part only of the bundles that use it. The pool's owner closes its connections.
 */
export function prismaOf(pool: pg.Pool): PrismaClient {
  let client = clients.get(pool);
  if (client === undefined) {
    client = new PrismaClient({ adapter: new PrismaPg(pool) });
    clients.set(pool, client);
  }
  return client;
}
