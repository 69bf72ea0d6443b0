import { ParleyApiError } from '@parley/client';
import { type ManageClient, type Page, createManageClient } from '@parley/client/manage';
import { withClient } from './data/client';
import { apiAddress, environmentOf } from './environment';
import { Failure, usageFailure } from './failure';
import { parseLimit } from './page';
import { parseEnvironment } from './scope';
import { formatTable, note, print, printJson } from './terminal';

/** Options that `ofKey` adds to a command. */
export interface KeyOptions {
  env?: string;
  org?: string;
  json?: boolean;
}

/** Options that `paged` adds to a command. */
export interface ListOptions extends KeyOptions {
  limit?: string;
  cursor?: string;
}

/**
 * Runs `work` with the management API. Refuses a key of another environment or organization than
 * the options name.
 */
export const withManage = <T>(
  { env, org }: KeyOptions,
  work: (manage: ManageClient) => Promise<T>,
): Promise<T> =>
  withClient(async (client) => {
    const manage = createManageClient(client);
    const environment = environmentOf(apiAddress().key);
    if (env !== undefined && parseEnvironment(env) !== environment)
      throw usageFailure(`The key is of ${environment}. Set PARLEY_API_KEY to a key of ${env}`);
    const slug = org === undefined ? undefined : (await manage.getOrganization()).slug;
    if (slug !== org)
      throw usageFailure(
        `The key belongs to the organization "${slug}". Set PARLEY_API_KEY to a key of "${org}"`,
      );
    return work(manage);
  });

/** Pages of the API have at most 100 items. */
const pageItems = 100;

type ReadPage<Item> = (page: { limit: number; cursor: string | undefined }) => Promise<Page<Item>>;

/** Reads up to `limit` items after a cursor. */
export async function readPages<Item>(
  read: ReadPage<Item>,
  limit: number,
  cursor?: string,
): Promise<Page<Item>> {
  const page = await read({ limit: Math.min(limit, pageItems), cursor });
  const left = limit - page.data.length;
  if (!page.hasMore || left <= 0) return page;
  const rest = await readPages(read, left, page.cursor);
  return { ...rest, data: [...page.data, ...rest.data] };
}

/** Slug of the oldest agent of the environment. */
export async function oldestAgent(manage: ManageClient): Promise<string> {
  const slug = (await readPages(manage.listAgents, 1_000)).data.at(-1)?.slug;
  if (slug === undefined)
    throw new Failure('There is no agent to answer the message. Push one first: parley push');
  return slug;
}

/**
 * A list of the management API: what its items are called, how a page is read, and the
 * columns of the table.
 */
interface Listing<Item> {
  items: string;
  read: (manage: ManageClient) => ReadPage<Item>;
  columns: Record<string, (item: Item) => string>;
  /** Further members of the output of `--json`. */
  more?: object;
}

/** Prints a page of a list as a table; with `--json` as the API returns it. */
export async function printList<Item>(
  { limit: wanted, cursor, json, ...options }: ListOptions,
  { items, read, columns, more }: Listing<Item>,
): Promise<void> {
  const limit = parseLimit(wanted, 20);
  const page = await withManage(options, (manage) => readPages(read(manage), limit, cursor));
  if (json) return printJson({ ...page, ...more });
  printItems(
    page,
    columns,
    `No${cursor === undefined ? '' : ' more'} ${items} in ${environmentOf(apiAddress().key)}`,
  );
}

/** Prints a page as a table. `none` is the text for an empty one. */
export function printItems<Item>(
  page: Page<Item>,
  columns: Record<string, (item: Item) => string>,
  none: string,
): void {
  if (page.data.length === 0) return note(none);
  const cells = Object.values(columns);
  print(
    formatTable(
      Object.keys(columns),
      page.data.map((item) => cells.map((cell) => cell(item))),
    ),
  );
  if (page.hasMore) note(`Next page: --cursor ${page.cursor}`);
}

/**
 * Changes each of the named resources. One that is unknown or cannot be changed is a problem, and
 * does not stop the others.
 */
export async function changeEach<T>(
  names: string[],
  change: (name: string) => Promise<T>,
): Promise<{ results: T[]; problems: string[] }> {
  const results: T[] = [];
  const problems: string[] = [];
  for (const name of new Set(names)) {
    try {
      results.push(await change(name));
    } catch (error) {
      if (!(error instanceof ParleyApiError) || ![404, 409, 502].includes(error.status))
        throw error;
      problems.push(`${name}: ${error.message}${error.code === 'in_doubt' ? ' (--anyway)' : ''}`);
    }
  }
  return { results, problems };
}
