import type { ChatInput, ChatResponse } from './chat-types';
import type {
  CreateInput,
  Deleted,
  Entity,
  EntityPage,
  EntityTypeView,
  ListInput,
  QueryInput,
  SearchInput,
  UpdateInput,
} from './data-types';
import type { JsonObject } from './json';
import { type CallOptions, type ClientOptions, type Send, createSend } from './request';

/**
 * Parley over HTTP, from Node or a browser. `T` maps each entity type's slug to what it holds in `data`; without it
 * every type holds JSON. Answers are those of the interface as they are; a failure is a ParleyApiError. Calls that meet
 * 429, 503 or a lost connection are tried again, after the time that the server asks for; an update that has lost its
 * connection is not, as it may have been made.
 */
export class ParleyClient<T extends { [K in keyof T]: object } = Record<string, JsonObject>> {
  readonly data: DataApi<T>;
  readonly #send: Send;

  constructor(options: ClientOptions) {
    this.#send = createSend(options);
    this.data = new DataApi(this.#send);
  }

  /** One message to an agent or a router, and its reply. */
  chat(input: ChatInput, options?: CallOptions): Promise<ChatResponse> {
    const { agentSlug, routerSlug, ...rest } = input;
    const path =
      agentSlug !== undefined
        ? ['agents', agentSlug, 'chat']
        : routerSlug !== undefined
          ? ['routers', routerSlug, 'chat']
          : ['chat'];
    return this.#send({ ...options, method: 'POST', path, body: rest, creates: true });
  }

  /** The types that the key may read. */
  entityTypes(options?: CallOptions): Promise<{ data: EntityTypeView[] }> {
    return this.#send({ ...options, method: 'GET', path: ['entity-types'] });
  }
}

class DataApi<T extends { [K in keyof T]: object }> {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** A page, newest first. */
  list<K extends keyof T & string>(type: K, input: ListInput = {}, options?: CallOptions): Promise<EntityPage<T[K]>> {
    return this.#send({ ...options, method: 'GET', path: ['data', type], query: input });
  }

  get<K extends keyof T & string>(type: K, id: string, options?: CallOptions): Promise<Entity<T[K]>> {
    return this.#send({ ...options, method: 'GET', path: ['data', type, id] });
  }

  create<K extends keyof T & string>(type: K, input: CreateInput<T[K]>, options?: CallOptions): Promise<Entity<T[K]>> {
    return this.#send({ ...options, method: 'POST', path: ['data', type], body: input, creates: true });
  }

  update<K extends keyof T & string>(
    type: K,
    id: string,
    input: UpdateInput<T[K]>,
    options?: CallOptions,
  ): Promise<Entity<T[K]>> {
    return this.#send({ ...options, method: 'PATCH', path: ['data', type, id], body: input });
  }

  /**
   * Soft: the entity leaves lists and queries; `update` with a `status` brings it back. An entity that is not there is a
   * 404, unless it is met by another try after an answer that was lost: then it is what was asked for.
   */
  delete<K extends keyof T & string>(type: K, id: string, options?: CallOptions): Promise<Deleted> {
    return this.#send({ ...options, method: 'DELETE', path: ['data', type, id] });
  }

  /** A page of what the filters match. */
  query<K extends keyof T & string>(
    type: K,
    input: QueryInput<T[K]> = {},
    options?: CallOptions,
  ): Promise<EntityPage<T[K]>> {
    return this.#send({ ...options, method: 'POST', path: ['data', type, 'query'], body: input });
  }

  /** Full text over the type's `searchFields`, best matches first. */
  search<K extends keyof T & string>(
    type: K,
    input: SearchInput,
    options?: CallOptions,
  ): Promise<{ data: Entity<T[K]>[] }> {
    return this.#send({ ...options, method: 'POST', path: ['data', type, 'search'], body: input });
  }

  /** Every match, page by page: `for await (const order of client.data.iterate('order', { … }))`. */
  async *iterate<K extends keyof T & string>(
    type: K,
    input: QueryInput<T[K]> = {},
    options?: CallOptions,
  ): AsyncGenerator<Entity<T[K]>, void, undefined> {
    let { cursor } = input;
    for (;;) {
      const page = await this.query(type, { ...input, cursor }, options);
      yield* page.data;
      if (!page.hasMore) return;
      cursor = page.cursor;
    }
  }
}
