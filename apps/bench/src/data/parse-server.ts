import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { type Child, startChild } from '../child';
import { newCustomer } from './create-cost';

export interface Peer extends Child {
  headers: Record<string, string>;
  /** The id of an existing object. */
  objectId: string;
}

const version = '9.10.0';

/**
 * Installs Parse Server into a temporary folder and starts it on a new database in the same
 * PostgreSQL, with objects of the same fields. It stores one object, which PostgreSQL then copies.
 */
export async function startParseServer(
  folder: string,
  databaseUrl: string,
  objects: number,
): Promise<Peer> {
  const peerFolder = join(folder, 'parse');
  execFileSync('npm', [
    'install',
    '--silent',
    '--no-fund',
    '--no-audit',
    '--ignore-scripts',
    '--prefix',
    peerFolder,
    `parse-server@${version}`,
    'express@5',
    // Newer versions, which its package accepts, break its batches.
    'router@2.2.0',
  ]);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  await admin.query('create database parse');
  await admin.end();
  const peerUrl = Object.assign(new URL(databaseUrl), { pathname: '/parse' }).href;
  const applicationId = 'bench';
  const masterKey = randomBytes(16).toString('hex');
  const child = await startChild(join(__dirname, 'parse-child.cjs'), [
    peerFolder,
    peerUrl,
    applicationId,
    masterKey,
  ]);
  const headers = { 'X-Parse-Application-Id': applicationId, 'X-Parse-Master-Key': masterKey };
  const created = await fetch(`${child.url}/parse/classes/Customer`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(newCustomer()),
  });
  if (created.status !== 201)
    throw new Error(`Parse Server: ${created.status} ${await created.text()}`);
  const { objectId } = (await created.json()) as { objectId: string };
  const client = new pg.Client({ connectionString: peerUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    `select string_agg(quote_ident(column_name), ', ') as name from information_schema.columns
     where table_name = 'Customer' and column_name not in ('objectId', 'createdAt')`,
  );
  await client.query(
    `insert into "Customer" ("objectId", "createdAt", ${rows[0]!.name})
     select substr(md5(n::text), 1, 10), "createdAt" - n * interval '1 second', ${rows[0]!.name} from "Customer", generate_series(1, ${objects}) n`,
  );
  // Parse Server creates no such index, so its list would sort all objects each time.
  await client.query('create index on "Customer" ("createdAt" desc)');
  await client.query('vacuum analyze "Customer"');
  await client.end();
  return { ...child, headers, objectId };
}
