import type { Client } from '../client';
import { push } from '../client';

/** A type with a field of each kind, and one whose ids it refers to. */
export const pushLeads = (client: Client): Promise<void> =>
  push(client, {
    entityTypes: [
      { slug: 'shop', name: 'Shop', schema: { name: 'string' }, searchFields: ['name'] },
      {
        slug: 'lead',
        name: 'Lead',
        searchFields: ['name'],
        schema: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string', description: 'As on the invoice' },
            tier: { type: 'string', enum: ['gold', 'silver'] },
            score: 'number',
            visits: 'integer',
            vip: 'boolean',
            born: 'date',
            shop: { references: 'shop' },
            tags: { type: 'array', items: 'string' },
          },
        },
      },
    ],
  });

type Data = Record<string, unknown>;

/** Creates entities and returns their ids. */
export async function createLeads(
  client: Client,
  leads: readonly Data[],
  type = 'lead',
): Promise<string[]> {
  const ids: string[] = [];
  for (let from = 0; from < leads.length; from += 500) {
    const operations = leads.slice(from, from + 500).map((data) => ({ action: 'create', data }));
    const { results } = (await client.post(`/v1/data/${type}/bulk`, { operations })).body as {
      results: { id: string }[];
    };
    ids.push(...results.map(({ id }) => id));
  }
  return ids;
}

/** The data of all entities of a type that match, the oldest first. */
export async function storedLeads(
  client: Client,
  query: object = {},
  type = 'lead',
): Promise<Data[]> {
  const found: Data[] = [];
  for (let cursor = ''; ;) {
    const input = { sort: { field: 'createdAt', direction: 'asc' }, limit: 100, cursor, ...query };
    const { body } = await client.post(`/v1/data/${type}/query`, input);
    const page = body as { data: { data: Data }[]; cursor: string; hasMore: boolean };
    found.push(...page.data.map(({ data }) => data));
    if (!page.hasMore) return found;
    cursor = page.cursor;
  }
}

export async function removeLeads(client: Client, type = 'lead'): Promise<void> {
  for (;;) {
    const { data } = (await client.post(`/v1/data/${type}/query`, { limit: 100 })).body as {
      data: { id: string }[];
    };
    if (data.length === 0) return;
    await client.post(`/v1/data/${type}/bulk`, {
      operations: data.map(({ id }) => ({ action: 'delete', id })),
    });
  }
}
