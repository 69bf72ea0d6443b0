import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { load, report, table } from '../measure';
import { type RawRequest, openClient } from '../raw-client';
import { newCustomer } from './create-cost';
import { big } from './load-entities';

/** Operations of a request. The SDKs of Parse Server send at most 50 in a batch. */
const ourBatch = 500;
const theirBatch = 50;
const callers = 2;
const durationMs = 4_000;

interface Side {
  url: string;
  path: string;
  headers: Record<string, string>;
}

const customers = (count: number) => Array.from({ length: count }, newCustomer);

/**
 * Entities per second through bulk requests, beside Parse Server's batches and `COPY` of the rows
 * that they wrote into the same indexes.
 */
export async function bulkCreate(
  databaseUrl: string,
  { ours, theirs }: { ours: Side; theirs: Side },
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ pos: string }>(
    'select max(pos) as pos from entities where tenant = $1',
    [big.tenant],
  );
  const creates = customers(ourBatch).map((data) => ({ action: 'create', data }));
  const ourRate = await entitiesPerSecond(ours, ourBatch, { operations: creates });
  const requests = customers(theirBatch).map((body) => ({
    method: 'POST',
    path: '/parse/classes/Customer',
    body,
  }));
  const theirRate = await entitiesPerSecond(theirs, theirBatch, { requests });
  const copyRate = await copyAgain(client, Number(big.tenant), rows[0]!.pos);
  await client.end();
  console.log(`\nCreates in bulk, ${callers} callers without a pause, ${durationMs / 1_000} s\n`);
  console.log(
    table(
      ['through', 'entities/s', 'gateway ÷ this'],
      [
        [`gateway, ${ourBatch} a request`, ourRate],
        [`Parse Server, ${theirBatch} a batch`, theirRate],
        ['COPY of the same rows into the same indexes, one connection', copyRate],
      ].map(([name, rate]) => [
        name!,
        Math.round(Number(rate)),
        `${(ourRate / Number(rate)).toFixed(2)}×`,
      ]),
    ),
  );
  report('data: bulk create, gateway', ourRate, 'entities/s', { atLeast: 5_000 });
  report('data: bulk create ÷ Parse Server, gateway', ourRate / theirRate, '×', { atLeast: 10 });
  report('data: bulk create ÷ COPY, gateway', ourRate / copyRate, '×', { target: 0.5 });
}

async function entitiesPerSecond(
  { url, path, headers }: Side,
  size: number,
  body: object,
): Promise<number> {
  const request: RawRequest = { method: 'POST', path, headers, body: JSON.stringify(body) };
  const clients = await Promise.all(
    Array.from({ length: callers }, () => openClient(url, request)),
  );
  const call = (index: number) => async () => {
    const status = await clients[index]!.call();
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  };
  await call(0)();
  const { perSecond } = await load(callers, durationMs, call);
  for (const client of clients) client.close();
  return perSecond * size;
}

/** Copies the rows that the requests have written into empty tables with the same indexes. */
async function copyAgain(client: pg.Client, tenant: number, after: string): Promise<number> {
  const tables = ['entities', 'entity_fields'];
  const copies: { into: string; bytes: Buffer[] }[] = [];
  for (const name of tables) {
    const into = `bench_copy_${name}`;
    await client.query(`create table ${into} (like ${name} including all)`);
    const where = `tenant = ${tenant} and pos > ${BigInt(after)}`;
    const bytes: Buffer[] = [];
    for await (const chunk of client.query(
      copyTo(`copy (select * from ${name} where ${where}) to stdout (format binary)`),
    ))
      bytes.push(chunk as Buffer);
    copies.push({ into, bytes });
  }
  await client.query('checkpoint');
  const startedAt = performance.now();
  await client.query('begin');
  for (const { into, bytes } of copies)
    await pipeline(
      Readable.from(bytes),
      client.query(copyFrom(`copy ${into} from stdin (format binary)`)),
    );
  await client.query('commit');
  const seconds = (performance.now() - startedAt) / 1_000;
  const { rows } = await client.query<{ count: string }>(
    'select count(*) from bench_copy_entities',
  );
  await client.query('drop table bench_copy_entities, bench_copy_entity_fields');
  return Number(rows[0]!.count) / seconds;
}
