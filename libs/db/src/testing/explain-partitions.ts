import type { ClientBase } from 'pg';
import { type PlanNode, foreignPartitions, partitionOf } from './check-plans';
import { type StatementNote, shapeOf } from './note-statements';

/** Statements with a plan. The others, such as `create index`, read no rows of a tenant. */
const explainable = /^\s*(?:select|insert|update|delete|with|values|merge)\b/i;

/** Any tenant: the partition of a statement is the one of the tenant that its parameters name. */
const tenant = 1;

/**
 * Explains each statement once on partitioned tables (partition.ts), without its values, and
 * returns what is wrong: a plan that uses another partition than the one of the tenant, or any
 * without a tenant. The number of a tenant replaces the parameters that held one when a test ran
 * the statement, because a plan for an unknown tenant lists all partitions. Statements inside
 * functions and the checks of foreign keys have no text here; check-plans.ts sees them.
 */
export async function explainPartitions(
  client: ClientBase,
  notes: Iterable<StatementNote>,
): Promise<string[]> {
  const own = await partitionOf(client, tenant);
  const explained = new Set<string>();
  const problems: string[] = [];
  for (const note of notes) {
    const { name, text, tenantAt } = note;
    const shape = `${name}\n${tenantAt?.length}\n${shapeOf(text)}`;
    if (tenantAt === undefined || explained.has(shape) || !explainable.test(text)) continue;
    explained.add(shape);
    const problem = await problemOf(
      client,
      withTenant(text, tenantAt),
      tenantAt.length > 0 ? own : null,
    );
    if (problem !== null) problems.push(`The statement ${name} ${problem}: ${text}`);
  }
  return problems;
}

const withTenant = (text: string, tenantAt: readonly number[]): string =>
  text.replace(/\$(\d+)/g, (parameter, at: string) =>
    tenantAt.includes(Number(at)) ? String(tenant) : parameter,
  );

async function problemOf(
  client: ClientBase,
  text: string,
  own: string | null,
): Promise<string | null> {
  try {
    const explain = `explain (generic_plan, format json, costs off) ${text}`;
    const { rows } = await client.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(explain);
    const [foreign] = foreignPartitions(rows[0]!['QUERY PLAN'][0]!.Plan, own);
    return foreign === undefined
      ? null
      : `does not stay in the partition of its tenant: it reads ${foreign}`;
  } catch (error) {
    return `cannot be explained: ${(error as Error).message}`;
  }
}
