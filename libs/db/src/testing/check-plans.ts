import type pg from 'pg';
import type { Statement } from '../statement';
import { partitionCount } from './partition';

type Client = Pick<pg.ClientBase, 'query'>;

export interface PlanNode {
  'Relation Name'?: string;
  'Target Tables'?: PlanNode[];
  Plans?: PlanNode[];
}

/**
 * A plan in the format of `auto_explain`, which also reports statements inside functions
 * and foreign keys.
 */
interface Explained {
  'Query Text': string;
  Plan: PlanNode;
}

/** By its properties: the driver may be in a bundle of its own. */
const isPool = (client: Client): client is pg.Pool => 'totalCount' in client;

const partitionName = /^(\w+)_part(\d+)$/;

function* partitionsOf(node: PlanNode): Iterable<string> {
  if (node['Relation Name'] !== undefined) yield node['Relation Name'];
  for (const child of [...(node.Plans ?? []), ...(node['Target Tables'] ?? [])])
    yield* partitionsOf(child);
}

/** The partitions that a plan uses beside the one with the number `own`; null: all of them. */
export function foreignPartitions(plan: PlanNode, own: string | null): string[] {
  return [...partitionsOf(plan)].filter((relation) => {
    const part = partitionName.exec(relation)?.[2];
    return part !== undefined && part !== own;
  });
}

/** The number of the partition that holds the rows of a tenant. */
export async function partitionOf(client: Client, tenant: number): Promise<string> {
  const { rows } = await client.query<{ part: string }>(
    `select part::text from generate_series(0, ${partitionCount - 1}) part
     where satisfies_hash_partition('events'::regclass, ${partitionCount}, part, $1::int)`,
    [tenant],
  );
  return rows[0]!.part;
}

/**
 * For tests with partitioned tables (partition.ts): runs `work` on one connection and throws when
 * the plan of a statement uses another partition than the tenant's, or any partition when it has no
 * tenant. Such a statement reads rows of other tenants, and would run on every node of a
 * distributed database.
 */
export function createPlanCheck() {
  const partitions = new Map<number, string>();

  async function knownPartitionOf(client: Client, tenant: number): Promise<string> {
    const part = partitions.get(tenant) ?? (await partitionOf(client, tenant));
    partitions.set(tenant, part);
    return part;
  }

  /** `subject` null: the statement may touch several tenants. */
  return async <T>(
    pool: Client,
    { name }: Statement,
    subject: { tenant?: number } | null,
    work: (client: Client) => Promise<T>,
  ): Promise<T> => {
    const client = isPool(pool) ? await pool.connect() : (pool as pg.PoolClient);
    const explained: Explained[] = [];
    const listen = ({ message = '' }: { message?: string }): void => {
      if (/^duration: .* plan:\n/.test(message))
        explained.push(JSON.parse(message.slice(message.indexOf('\n'))));
    };
    client.on('notice', listen);
    try {
      const result = await work(client);
      // In a transaction, the plan of a statement is reported when the next statement begins.
      await client.query('select').finally(() => client.off('notice', listen));
      if (subject === null) return result;
      const { tenant } = subject;
      const own = tenant === undefined ? null : await knownPartitionOf(client, tenant);
      for (const { 'Query Text': text, Plan: plan } of explained)
        for (const relation of foreignPartitions(plan, own))
          throw new Error(
            `The statement ${name} does not stay with tenant ${tenant}: it reads ${relation} in ${text}`,
          );
      return result;
    } finally {
      client.off('notice', listen);
      if (isPool(pool)) client.release();
    }
  };
}
