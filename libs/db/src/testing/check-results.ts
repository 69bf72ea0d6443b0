import type pg from 'pg';
import type { Statement } from '../statement';

type Client = Pick<pg.ClientBase, 'query'>;

/**
 * For tests: compares each result with the row that its statement declares. Throws when a column is
 * missing or not declared, has another type, or is null without being declared nullable.
 */
export function createResultCheck() {
  const typeNames = new Map<number, string>();

  async function typeName(client: Client, oid: number): Promise<string> {
    const known = typeNames.get(oid);
    if (known !== undefined) return known;
    const { rows } = await client.query<{ typname: string }>(
      'select typname from pg_type where oid = $1',
      [oid],
    );
    typeNames.set(oid, rows[0]!.typname);
    return rows[0]!.typname;
  }

  return async (
    client: Client,
    { name, row }: Statement,
    { fields, rows }: pg.QueryResult,
  ): Promise<void> => {
    const wrong = (problem: string) =>
      new Error(`The statement ${name} does not return what it declares: ${problem}`);
    const returned = fields.map((field) => field.name).sort();
    const declared = Object.keys(row).sort();
    if (returned.join() !== declared.join())
      throw wrong(`${returned.join(', ')} and not ${declared.join(', ')}`);
    for (const field of fields) {
      const { types, isNullable } = row[field.name]!;
      const type = await typeName(client, field.dataTypeID);
      if (!types.includes(type))
        throw wrong(`${field.name} is ${type} and not ${types.join(' or ')}`);
      if (!isNullable && rows.some((one: Record<string, unknown>) => one[field.name] === null))
        throw wrong(`${field.name} is null`);
    }
  };
}
