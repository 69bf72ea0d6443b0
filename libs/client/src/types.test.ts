import type * as contracts from '@parley/contracts';
import type {
  ChatResponse,
  DataOf,
  Entity,
  EntityPage,
  EntityTypes,
  EntityTypeView,
  Filters,
} from './index';
import { ParleyClient } from './index';

/** True only if both types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** True only if each type is assignable to the other. */
type Assignable<A, B> = [A, B] extends [B, A] ? true : false;
const holds = <T extends true>(value: T): T => value;

interface Shop {
  product: { name: string; price: number; tags: string[]; inStock?: boolean };
  note: { text: string };
}

test('responses have the types of libs/contracts, against which the services are checked', () => {
  expect(holds<Assignable<ChatResponse, contracts.ChatResponse>>(true)).toBe(true);
  expect(holds<Assignable<Entity, contracts.Entity>>(true)).toBe(true);
  expect(holds<Assignable<EntityPage, contracts.EntityPage>>(true)).toBe(true);
  expect(holds<Assignable<EntityTypeView, contracts.EntityTypeView>>(true)).toBe(true);
});

test('operators have the types of libs/contracts', () => {
  type Known = keyof NonNullable<Exclude<Filters<{ a: string }>['data.a'], string | null>>;
  expect(holds<Same<Known, contracts.FilterOperator>>(true)).toBe(true);
});

test("calls are typed by the user's own entity types", () => {
  const client = new ParleyClient<Shop>({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1' });
  // Compiled but never run.
  const compiled = async () => {
    const { data } = await client.data.get('product', '1');
    const name: string = data.name;
    // @ts-expect-error -- no such type
    await client.data.list('products');
    // @ts-expect-error -- no such field
    data.weight satisfies unknown;
    await client.data.create('product', { data: { name, price: 1, tags: [] } });
    // @ts-expect-error -- a field is missing
    await client.data.create('product', { data: { name } });
    await client.data.update('product', '1', { data: { price: 2, inStock: null } });
    // @ts-expect-error -- of another type
    await client.data.update('product', '1', { data: { price: 'two' } });
    const filters: Filters<Shop['product']> = {
      'data.price': { $gte: 1, $lt: 5 },
      'data.name': 'Lamp',
      'data.tags': { $contains: 'new' },
      'data.inStock': { $exists: true },
      'data.size.width': { $gt: 3 },
      createdAt: { $gt: 0 },
      id: { $in: ['a'] },
    };
    await client.data.query('product', {
      filters,
      sort: { field: 'data.price', direction: 'asc' },
    });
    // @ts-expect-error -- the lifecycle status is a field of the body, not a filter
    await client.data.query('product', { filters: { status: 'active' } });
    // @ts-expect-error -- no such operator
    await client.data.query('product', { filters: { 'data.price': { $equals: 1 } } });
    // @ts-expect-error -- compared with a value of another type
    await client.data.query('product', { filters: { 'data.price': { $gt: '1' } } });
    // @ts-expect-error -- no such field
    await client.data.query('product', { filters: { 'data.weight': 1 } });
    for await (const entity of client.data.iterate('note')) entity.data.text satisfies string;
    // @ts-expect-error -- an agent or a router, not both
    await client.chat({ agentSlug: 'a', routerSlug: 'b', message: 'm' });
    // @ts-expect-error -- neither an agent nor a router
    await client.chat({ message: 'm' });
    // @ts-expect-error -- phoneNumber is only for routers
    await client.chat({ agentSlug: 'a', message: 'm', phoneNumber: '1' });
  };
  expect(compiled).toBeInstanceOf(Function);
});

test('the types of `data` can be derived from definitions', () => {
  const _flat = {
    slug: 'order',
    schema: { number: 'string', total: 'number', lines: 'array', own: 'money' },
  } as const;
  const _full = {
    slug: 'visit',
    schema: {
      type: 'object',
      properties: {
        at: { type: 'date' },
        kind: { enum: ['a', 'b'] },
        marks: { type: 'array', items: 'number' },
      },
      required: ['at'],
    },
  } as const;
  type Order = {
    number?: string | null;
    total?: number | null;
    lines?: contracts.Json[] | null;
    own?: number | null;
  };
  expect(
    holds<Assignable<DataOf<typeof _flat>, { readonly [K in keyof Order]: Order[K] }>>(true),
  ).toBe(true);
  type Visit = DataOf<typeof _full>;
  expect(
    holds<
      Assignable<Visit, { at: string | number; kind?: 'a' | 'b' | null; marks?: number[] | null }>
    >(true),
  ).toBe(true);
  type Both = EntityTypes<typeof _flat | typeof _full>;
  expect(holds<Same<keyof Both, 'order' | 'visit'>>(true)).toBe(true);
  expect(holds<Assignable<Both['visit'], Visit>>(true)).toBe(true);
});
