import { type ManageClient, routes } from './generated/management';
import type { ApiRequest, CallOptions, Send } from './request';

/** The result of an operation: `ResultOf<'getThread'>`. */
export type ResultOf<Id extends keyof ManageClient> = Awaited<ReturnType<ManageClient[Id]>>;
/** The input of an operation. */
export type InputOf<Id extends keyof ManageClient> = NonNullable<Parameters<ManageClient[Id]>[0]>;

/** A page of a list. */
export interface Page<Item> {
  data: Item[];
  cursor: string;
  hasMore: boolean;
}

/**
 * The management API, one method for each operation:
 * `createManageClient(new ParleyClient({ apiKey, baseUrl }))`. A key needs the permission `manage`;
 * a person's session needs none. After a lost connection only reads, and operations with an
 * idempotency key, are retried.
 */
export function createManageClient(client: { request: Send }): ManageClient {
  const methods = Object.entries(routes).map(([id, route]) => {
    const [method, path, kind] = route.split(' ') as [ApiRequest['method'], string, string?];
    const call = (input?: Record<string, unknown>, options?: CallOptions) => {
      const rest = { ...input };
      const take = (name: string) => {
        const value = String(rest[name] ?? '');
        delete rest[name];
        return value;
      };
      return client.request({
        ...options,
        method,
        path: path
          .split('/')
          .map((segment) => (segment[0] === ':' ? take(segment.slice(1)) : segment)),
        [method === 'GET' || method === 'DELETE' ? 'query' : 'body']: rest,
        creates: kind === 'once',
        isUnsafe: method !== 'GET' && kind !== 'once',
        isRaw: kind === 'raw',
      });
    };
    return [id, call];
  });
  return Object.fromEntries(methods) as ManageClient;
}

/**
 * Iterates over all items of a list, page by page:
 * `for await (const thread of iterate(manage.listThreads, { state: 'human' }))`.
 */
export async function* iterate<Input extends { cursor?: string } | undefined, Item>(
  list: (input: Input, options?: CallOptions) => Promise<Page<Item>>,
  ...[input, options]: undefined extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions]
): AsyncGenerator<Item, void, undefined> {
  for (let cursor = input?.cursor; ;) {
    const page = await list({ ...input, cursor } as Input, options);
    yield* page.data;
    if (!page.hasMore) return;
    cursor = page.cursor;
  }
}
