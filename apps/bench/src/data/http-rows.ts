import { type Db, type Queryable, type Statement, type Tenant, orderValues } from '@parley/db';
import { createApiKey } from '@parley/identity';
import type { Entities } from '@parley/entities';
import { startStack } from '@parley/testing';
import {
  type Bar,
  load,
  measureInTurns,
  ms,
  report,
  residentKib,
  summarize,
  table,
} from '../measure';
import { type RawClient, type RawRequest, openClient } from '../raw-client';
import { bulkCreate } from './bulk-create';
import { newCustomer } from './create-cost';
import { big, type } from './load-entities';
import { startParseServer } from './parse-server';

interface Place {
  db: Db;
  entities: Entities;
  databaseUrl: string;
  redisUrl: string;
  bundles: string;
  folder: string;
}

/** The p50 of a call at a target divided by that of the driver. */
const barsOfDriver: Record<string, Bar> = {
  'get ÷ driver, data service': { atMost: 3, target: 2 },
  'get ÷ driver, gateway': { atMost: 5, target: 3 },
  'list of 50 ÷ driver, data service': { atMost: 2, target: 1.5 },
  'list of 50 ÷ driver, gateway': { atMost: 2.5, target: 2 },
};

/** The rate of 8 callers divided by that of Parse Server. */
const barsOfParse: Record<string, Bar> = {
  'get ÷ Parse Server, data service': { atLeast: 4, target: 5 },
  'get ÷ Parse Server, gateway': { atLeast: 2.5, target: 5 },
  'list of 50 ÷ Parse Server, data service': { atLeast: 4 },
  'list of 50 ÷ Parse Server, gateway': { atLeast: 3 },
  'create ÷ Parse Server, data service': { atLeast: 2.5, target: 5 },
  'create ÷ Parse Server, gateway': { atLeast: 2.5, target: 5 },
};

/**
 * Compares the data service and the gateway with the driver, which sends the same statement, and
 * with Parse Server.
 */
export async function httpRows({
  db,
  entities,
  databaseUrl,
  redisUrl,
  bundles,
  folder,
}: Place): Promise<void> {
  await db.pool.query(
    `insert into organizations (id, no, slug, name, updated_at) values ($1, $2, 'bench', 'Bench', now()) on conflict do nothing`,
    [big.organizationId, big.tenant],
  );
  const { key } = await createApiKey(db, { ...big, name: 'bench', permissions: ['data'] });
  const stack = await startStack({
    databaseUrl,
    redisUrl,
    bundles,
    services: ['data', 'gateway'],
    environment: { NODE_ENV: 'production', LOG_LEVEL: 'info' },
    environmentOf: {
      data: { RATE_LIMIT_PER_KEY: '100000000', RATE_LIMIT_PER_ORGANIZATION: '100000000' },
    },
  });
  const peer = await startParseServer(folder, databaseUrl, 200_000);
  try {
    const page = await entities.list(big, { type, limit: 1 });
    if (!page.ok) throw new Error(page.reason);
    const id = page.page.entities[0]!.id;
    const headers = { Authorization: `Bearer ${key}` };
    const body = (): string => JSON.stringify({ data: newCustomer() });
    const requests: Record<
      'get' | 'list of 50' | 'create',
      { ours: RawRequest; theirs: RawRequest }
    > = {
      get: {
        ours: { path: `/v1/data/${type}/${id}`, headers },
        theirs: { path: `/parse/classes/Customer/${peer.objectId}`, headers: peer.headers },
      },
      'list of 50': {
        ours: { path: `/v1/data/${type}?limit=50`, headers },
        theirs: {
          path: '/parse/classes/Customer?limit=50&order=-createdAt',
          headers: peer.headers,
        },
      },
      create: {
        ours: { method: 'POST', path: `/v1/data/${type}`, headers, body: body() },
        theirs: {
          method: 'POST',
          path: '/parse/classes/Customer',
          headers: peer.headers,
          body: JSON.stringify(newCustomer()),
        },
      },
    };
    const statements = {
      get: await recorded(db, (tx) => entities.get(big, { type, id }, tx)),
      'list of 50': await recorded(db, (tx) => entities.list(big, { type, limit: 50 }, tx)),
    };
    const targets = { 'data service': stack.services.data!.url, gateway: stack.url };

    const rows: (string | number)[][] = [];
    for (const name of ['get', 'list of 50'] as const) {
      const calls: Record<string, () => Promise<unknown>> = {
        driver: () => db.pool.query(statements[name]),
      };
      for (const [target, url] of Object.entries(targets))
        calls[target] = call(await opened(url, requests[name].ours));
      calls['Parse Server'] = call(await opened(peer.url, requests[name].theirs));
      const samples = await measureInTurns(calls, { rounds: 10, perRound: 200 });
      const driver = summarize(samples.driver!).p50;
      for (const [target, of] of Object.entries(samples)) {
        const { p50, p95, p99 } = summarize(of);
        rows.push([name, target, ms(p50), ms(p95), ms(p99), `${(p50 / driver).toFixed(2)}×`]);
        const figure = `${name} ÷ driver, ${target}`;
        if (figure in barsOfDriver)
          report(`data: ${figure}`, p50 / driver, '×', barsOfDriver[figure]);
      }
    }
    console.log(
      '\nOne caller, 2,000 calls each, in turns of 200; the driver sends the same statement\n',
    );
    console.log(table(['call', 'through', 'p50 ms', 'p95 ms', 'p99 ms', 'p50 ÷ driver'], rows));

    const rates: (string | number)[][] = [];
    for (const [name, { ours, theirs }] of Object.entries(requests)) {
      const sides: [string, string, RawRequest][] = [
        ['data service', targets['data service'], ours],
        ['gateway', targets.gateway, ours],
        ['Parse Server', peer.url, theirs],
      ];
      const perSecond = new Map<string, number>();
      // Two rounds, so that other load on the machine affects all of them.
      for (let round = 0; round < 2; round += 1) {
        for (const [side, url, request] of sides) {
          const clients = await Promise.all(Array.from({ length: 8 }, () => opened(url, request)));
          await load(8, 500, (index) => call(clients[index]!));
          const result = await load(8, 2_500, (index) => call(clients[index]!));
          perSecond.set(side, (perSecond.get(side) ?? 0) + result.perSecond / 2);
          for (const client of clients) client.close();
        }
      }
      const theirRate = perSecond.get('Parse Server')!;
      for (const [side, rate] of perSecond) {
        rates.push([name, side, Math.round(rate), `${(rate / theirRate).toFixed(1)}×`]);
        const figure = `${name} ÷ Parse Server, ${side}`;
        if (figure in barsOfParse)
          report(`data: ${figure}`, rate / theirRate, '×', barsOfParse[figure]);
      }
    }
    console.log('\n8 callers without a pause, 2 × 2.5 s\n');
    console.log(table(['call', 'at', 'requests/s', '÷ Parse Server'], rates));
    const createsBody = (count: number) => ({
      operations: Array.from({ length: count }, () => ({ action: 'create', data: newCustomer() })),
    });
    const one = await opened(stack.url, requests.create.ours);
    const many = await opened(stack.url, {
      method: 'POST',
      path: `/v1/data/${type}/bulk`,
      headers,
      body: JSON.stringify(createsBody(500)),
    });
    const imports = await measureInTurns(
      {
        '500 creates in sequence': async () => {
          for (let at = 0; at < 500; at += 1) await one.call();
        },
        'a bulk request of 500 creates': () => many.call(),
      },
      { rounds: 5, perRound: 1 },
    );
    const [sequence, bulk] = Object.values(imports).map((of) => summarize(of).p50) as [
      number,
      number,
    ];
    console.log('\n500 creates through the gateway, 5 rounds\n');
    const importRows = Object.entries(imports).map(([name, of]) => [name, ms(summarize(of).p50)]);
    console.log(
      table(['', 'p50 ms'], [...importRows, ['ratio', `${(sequence / bulk).toFixed(1)}×`]]),
    );
    await bulkCreate(databaseUrl, {
      ours: { url: stack.url, path: `/v1/data/${type}/bulk`, headers },
      theirs: { url: peer.url, path: '/parse/batch', headers: peer.headers },
    });
    const [our, their] = [stack.services.data!.pid, peer.pid].map((pid) =>
      Math.round(residentKib(pid) / 1024),
    );
    console.log(`\nResident memory after it: data service ${our} MB, Parse Server ${their} MB`);
    report('data: resident memory after the bench', our!, 'MB', { atMost: 200, target: 150 });
    report('data: resident memory of Parse Server', their!, 'MB');
  } finally {
    await Promise.all([stack.stop(), peer.stop()]);
  }
}

async function opened(url: string, request: RawRequest): Promise<RawClient> {
  const client = await openClient(url, request);
  const status = await client.call();
  if (status !== 200 && status !== 201) throw new Error(`${url}${request.path} answers ${status}`);
  return client;
}

const call = (client: RawClient) => () => client.call();

/** Records the statement of a library's read, so that the driver can send the same one. */
async function recorded(
  db: Db,
  read: (tx: Queryable) => Promise<unknown>,
): Promise<{ name: string; text: string; values: unknown[] }> {
  const sent: { name: string; text: string; values: unknown[] }[] = [];
  const recorder: Queryable = {
    ...db,
    query(subject, statement, values = {}) {
      const { tenant } = subject as Tenant;
      const ordered = orderValues(statement as Statement, values, tenant);
      sent.push({ name: statement.preparedAs!, text: statement.text, values: [...ordered] });
      return db.query(subject, statement, values);
    },
  };
  // A statement is prepared, and has a name, the second time it is sent.
  for (let time = 0; time < 2; time += 1) await read(recorder);
  if (sent.length !== 2) throw new Error('A read is one statement');
  return sent[1]!;
}
