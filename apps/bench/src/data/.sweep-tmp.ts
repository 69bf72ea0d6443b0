import pg from 'pg';
import { createEntities } from '@parley/entities';
const big = { organizationId: 'org_1', environment: 'production' as const };
const small = { organizationId: 'org_2', environment: 'production' as const };
const type = 'customer';
async function main() {
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 1, options: process.env.PGOPT });
  const e = createEntities({ pool });
  const run = async (name: string, call: () => Promise<any>, n = 30) => {
    const ts: number[] = []; let r: any;
    for (let i = 0; i < 6; i++) r = await call();
    for (let i = 0; i < n; i++) { const t = performance.now(); r = await call(); ts.push(performance.now() - t); }
    ts.sort((a, b) => a - b);
    console.log(name.padEnd(64), ts[0]!.toFixed(2).padStart(7), ts[n >> 1]!.toFixed(2).padStart(8), ts[Math.floor(n * 0.95)]!.toFixed(2).padStart(8), r.ok ? (r.page ?? r.list ?? {entities:[1]}).entities.length : JSON.stringify(r));
  };
  const q = (filters: any, extra: any = {}) => run(JSON.stringify({ ...filters, ...extra }).slice(0, 64), () => e.query(big, { type, filters, limit: 50, ...extra }));
  console.log('name'.padEnd(64), 'min p50 p95 rows');
  await run('list 200k', () => e.list(big, { type, limit: 50 })); await run('list 1k', () => e.list(small, { type, limit: 50 }));
  const p = await e.list(big, { type, limit: 50 }) as any;
  await run('get', () => e.get(big, { type, id: p.page.entities[0].id }));
  let c = p.page.cursor; for (let i = 0; i < 999; i++) c = ((await e.list(big, { type, limit: 50, cursor: c })) as any).page.cursor;
  await run('list page 1000', () => e.list(big, { type, limit: 50, cursor: c }));
  await run('list archived', () => e.list(big, { type, limit: 50, status: 'archived' }));
  await run('list status none', () => e.list(big, { type, limit: 50, status: 'zzz' }));
  if (process.argv[2] !== 'short') {
  for (const [a, b] of [[0, 1e6], [0, 5e5], [0, 1e5], [0, 1e4], [0, 1e3], [0, 10], [-5, -1]]) await q({ 'data.amount': { $gte: a, $lte: b } });
  for (const f of [{ 'data.seq': { $lt: 100000 } }, { 'data.seq': { $lt: 1000 } }, { 'data.seq': { $lt: 0 } }, { 'data.city': 'city-3' }, { 'data.city': 'nope' }, { 'data.const': 'same' }, { 'data.const': { $ne: 'same' } }, { 'data.tier': { $nin: ['gold', 'silver', 'bronze', 'none'] } }, { 'data.tier': { $in: ['gold', 'x'] } },
    { 'data.rare': { $exists: true } }, { 'data.const': { $exists: false } }, { 'data.maybe': null }, { 'data.maybe': { $ne: 5 } }, { 'data.name': null }, { 'data.name': { $contains: 'aa' } }, { 'data.name': { $contains: 'abcde' } }, { 'data.name': { $contains: 'zzz' } }, { 'data.note': { $contains: 'zzz' } }, { 'data.tags': { $contains: 't3' } }, { 'data.tags': { $contains: 'x' } }, { 'data.address': { zip: '00001' } },
    { 'data.active': true, 'data.rare': { $exists: true } }, { 'data.active': true, 'data.city': 'city-9' }, { 'data.amount': { $lt: 5e5 }, 'data.score': { $gt: 50 } }, { 'data.seq': { $lt: 100000 }, 'data.amount': { $lt: 10 } },
    { 'data.seq': { $lt: 100000, $gt: 0 }, 'updatedAt': { $gt: Date.now() - 1000 } }, { 'data.active': true, 'data.const': 'nope' }, { createdAt: { $lt: 1 } }, { id: p.page.entities[3].id } ]) await q(f);
  // halves that never meet: seq and createdAt-correlated updatedAt
  await q({ 'data.seq': { $lt: 100000 }, updatedAt: { $gt: p.page.entities[0].updatedAt - 31 * 500000 } });
  }
  for (const s of ['amount', 'seq', 'name', 'tier', 'maybe', 'rare', 'missing']) for (const direction of ['asc', 'desc']) await q({}, { sort: { field: `data.${s}`, direction } });
  await q({}, { sort: { field: 'updatedAt', direction: 'asc' } });
  for (const f of [{ 'data.city': 'city-3' }, { 'data.active': true }, { 'data.amount': { $lt: 1000 } }, { 'data.amount': { $lt: 14000 } }, { 'data.amount': { $lt: 16000 } }, { 'data.seq': { $gt: 100000 } }, { 'data.const': 'nope' }]) { await q(f, { sort: { field: 'data.score', direction: 'desc' } }); await q(f, { sort: { field: 'data.seq', direction: 'asc' } }); }
  for (const query of ['customer', 'customer w7', 'w77', 'abc', 'zzzz', 'c']) { await run('search big ' + query, () => e.search(big, { type, query, limit: 20 })); await run('search small ' + query, () => e.search(small, { type, query, limit: 20 })); }
  await pool.end();
}
main();
