import type { ChatInput, ChatResponse, Execution } from './chat-types';
import type {
  BulkInput,
  BulkResult,
  CreateInput,
  Deleted,
  Entity,
  EntityPage,
  EntityTypeView,
  ListInput,
  QueryInput,
  RelationPage,
  SearchInput,
  UpdateInput,
} from './data-types';
import type { KnownEntityTypes } from './definition-types';
import { type StreamOptions, readStream } from './stream';
import {
  type ApiRequest,
  type CallOptions,
  type ClientOptions,
  type Send,
  createSend,
} from './request';

/**
 * A client of the Parley API for Node.js and browsers. `T` maps the slug of each entity type to the
 * type of its `data`: by default the types of the file that `parley types generate` wrote, or any
 * JSON object without one. Methods resolve to the body of the response and throw a ParleyApiError
 * when the response is not a success. Requests are retried after 429, 503 and lost connections,
 * with the delay that the server requests. An update is not retried after a lost connection,
 * because it may already have been applied.
 */
export class ParleyClient<T extends { [K in keyof T]: object } = KnownEntityTypes> {
  readonly data: DataApi<T>;
  readonly executions: ExecutionsApi;
  readonly #send: Send;

  constructor(options: ClientOptions) {
    this.#send = createSend(options);
    this.data = new DataApi(this.#send);
    this.executions = new ExecutionsApi(this.#send);
  }

  /** Sends a message to an agent or a router and returns the reply. */
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

  /** Returns the entity types that the caller may read. */
  entityTypes(options?: CallOptions): Promise<{ data: EntityTypeView[] }> {
    return this.#send({ ...options, method: 'GET', path: ['entity-types'] });
  }

  /** Sends any request, with the credentials, the retries and the errors of the other methods. */
  request<T>(request: ApiRequest): Promise<T> {
    return this.#send(request);
  }

  /**
   * Yields the chunks of any stream of an answer, as `executions.stream` does. `path`:
   * segments below `/v1`.
   */
  stream(
    path: string[],
    options: StreamOptions & { query?: object } = {},
  ): ReturnType<typeof readStream> {
    return readStream(this.#send, path, options);
  }
}

/** Messages that agents answer in the background. */
class ExecutionsApi {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Starts an execution, and waits at most `waitSeconds` (30) for its end. */
  create(
    input: ChatInput,
    options: CallOptions & { waitSeconds?: number } = {},
  ): Promise<Execution> {
    const { waitSeconds, ...rest } = options;
    const headers = waitSeconds === undefined ? undefined : { Prefer: 'wait=' + waitSeconds };
    return this.#send({
      ...rest,
      method: 'POST',
      path: ['executions'],
      headers,
      body: input,
      creates: true,
    });
  }

  /** Returns an execution: at once, or when it has ended, but after `waitSeconds` (at most 30). */
  async get(
    executionId: string,
    options: CallOptions & { waitSeconds?: number } = {},
  ): Promise<Execution> {
    const { waitSeconds, ...rest } = options;
    const query = waitSeconds === undefined ? undefined : { wait: waitSeconds };
    type Answer = Omit<Execution, 'executionId'> & { id: string };
    const { id, threadId, status, reply, finishReason, usage, error } = await this.#send<Answer>({
      ...rest,
      method: 'GET',
      path: ['executions', executionId],
      query,
    });
    return {
      executionId: id,
      threadId,
      status,
      reply,
      finishReason,
      usage,
      ...(error != null && { error }),
    };
  }

  /**
   * Yields the answer while it is written, and connects again when the connection is cut. A loop
   * that is left ends the request, not the execution.
   */
  stream(executionId: string, options: StreamOptions = {}): ReturnType<typeof readStream> {
    return readStream(this.#send, ['executions', executionId, 'stream'], options);
  }

  /** Ends an execution after its running step, and returns its state. */
  cancel(executionId: string, options?: CallOptions): Promise<Execution> {
    return this.#send({ ...options, method: 'POST', path: ['executions', executionId, 'cancel'] });
  }
}

class DataApi<T extends { [K in keyof T]: object }> {
  readonly #send: Send;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Returns a page of entities, newest first. */
  list<K extends keyof T & string>(
    type: K,
    input: ListInput = {},
    options?: CallOptions,
  ): Promise<EntityPage<T[K]>> {
    return this.#send({ ...options, method: 'GET', path: ['data', type], query: input });
  }

  /**
   * Returns one entity. Throws a ParleyApiError with status 404 if it does not exist or is deleted.
   */
  get<K extends keyof T & string>(
    type: K,
    id: string,
    options?: CallOptions,
  ): Promise<Entity<T[K]>> {
    return this.#send({ ...options, method: 'GET', path: ['data', type, id] });
  }

  /** Returns a page of the relations of an entity, in both directions, newest first. */
  relations<K extends keyof T & string>(
    type: K,
    id: string,
    input: Pick<ListInput, 'limit' | 'cursor'> = {},
    options?: CallOptions,
  ): Promise<RelationPage> {
    return this.#send({
      ...options,
      method: 'GET',
      path: ['data', type, id, 'relations'],
      query: input,
    });
  }

  /** Creates an entity and returns it. */
  create<K extends keyof T & string>(
    type: K,
    input: CreateInput<T[K]>,
    options?: CallOptions,
  ): Promise<Entity<T[K]>> {
    return this.#send({
      ...options,
      method: 'POST',
      path: ['data', type],
      body: input,
      creates: true,
    });
  }

  /**
   * Merges `data` into an entity at the top level, optionally sets its status, and
   * returns the entity.
   */
  update<K extends keyof T & string>(
    type: K,
    id: string,
    input: UpdateInput<T[K]>,
    options?: CallOptions,
  ): Promise<Entity<T[K]>> {
    return this.#send({ ...options, method: 'PATCH', path: ['data', type, id], body: input });
  }

  /**
   * Marks an entity as deleted: it no longer appears in lists, queries and searches. `update` with
   * a `status` restores it. Throws a ParleyApiError with status 404 if the entity does not exist.
   * On a retry after a lost response a 404 counts as success, because the first request may have
   * deleted the entity.
   */
  delete<K extends keyof T & string>(type: K, id: string, options?: CallOptions): Promise<Deleted> {
    return this.#send({ ...options, method: 'DELETE', path: ['data', type, id] });
  }

  /** Returns a page of the entities that match all filters. */
  query<K extends keyof T & string>(
    type: K,
    input: QueryInput<T[K]> = {},
    options?: CallOptions,
  ): Promise<EntityPage<T[K]>> {
    return this.#send({ ...options, method: 'POST', path: ['data', type, 'query'], body: input });
  }

  /** Searches the type's `searchFields` and returns the best matches first. */
  search<K extends keyof T & string>(
    type: K,
    input: SearchInput,
    options?: CallOptions,
  ): Promise<{ data: Entity<T[K]>[] }> {
    return this.#send({ ...options, method: 'POST', path: ['data', type, 'search'], body: input });
  }

  /**
   * Creates, updates and deletes up to 500 entities with one request. Resolves to the result of
   * each operation, in their order. With `atomic`, throws the error of the first operation that
   * fails, and nothing is changed.
   */
  bulk<K extends keyof T & string>(
    type: K,
    input: BulkInput<T[K]>,
    options?: CallOptions,
  ): Promise<BulkResult> {
    return this.#send({
      ...options,
      method: 'POST',
      path: ['data', type, 'bulk'],
      body: input,
      creates: true,
    });
  }

  /**
   * Iterates over all matching entities, page by page:
   * `for await (const order of client.data.iterate('order', { … }))`.
   */
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
