import type { Entity, EntityPage } from '@parley/client';

interface LoadedPage {
  /** The cursor of the page after it. */
  next: string;
  count: number;
  /** Null when they are not in memory, because the person has scrolled far away. */
  rows: readonly Entity[] | null;
}

/** Pages on each side of the visible ones that stay in memory. */
const keptPages = 10;
/** Rows before the end of what is known at which the next page is loaded. */
const aheadRows = 50;

type Load = (cursor: string | undefined, signal?: AbortSignal) => Promise<EntityPage>;

/**
 * The rows of a grid. Every page that was loaded is known by its cursor and its length, so that
 * rows keep their places, and only those near the visible ones are in memory: a list of 200,000
 * entities holds at most 2,300 of them.
 */
export class EntityList {
  readonly #load: Load;
  readonly #pages: LoadedPage[] = [];
  readonly #loading = new Set<number>();
  readonly #listeners = new Set<() => void>();
  #visible: readonly [number, number] = [0, 0];
  #version = 0;
  /** Changes with each restart, so that answers to earlier requests are not used. */
  #generation = 0;
  hasMore = false;
  /** Why the next page is missing. */
  error: unknown = null;

  constructor(load: Load) {
    this.#load = load;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  readonly version = (): number => this.#version;

  /** Rows whose places are known. */
  get count(): number {
    return this.#pages.reduce((sum, { count }) => sum + count, 0);
  }

  /** The rows in memory. */
  get rows(): Entity[] {
    return this.#pages.flatMap(({ rows }) => rows ?? []);
  }

  /** The row at a place; undefined while it is loaded. */
  at(index: number): Entity | undefined {
    const [page, first] = this.#pageOf(index);
    return this.#pages[page]?.rows?.[index - first];
  }

  /** The place of an entity that is in memory; -1 without one. */
  indexOf(id: string): number {
    let first = 0;
    for (const { rows, count } of this.#pages) {
      const at = rows?.findIndex((row) => row.id === id) ?? -1;
      if (at >= 0) return first + at;
      first += count;
    }
    return -1;
  }

  /** Loads what is missing around the visible rows, and lets go of what is far away. */
  show(first: number, last: number): void {
    this.#visible = [first, last];
    const from = this.#pageOf(Math.max(0, first - aheadRows))[0];
    const to = Math.min(this.#pageOf(last + aheadRows)[0], this.#pages.length - 1);
    for (let page = from; page <= to; page += 1)
      if (this.#pages[page]!.rows === null) void this.#fill(page);
    if (this.hasMore && this.error === null && last + aheadRows >= this.count)
      void this.#fill(this.#pages.length);
    for (const [at, page] of this.#pages.entries())
      if (at < from - keptPages || at > to + keptPages) page.rows = null;
  }

  retry(): void {
    this.error = null;
    this.show(...this.#visible);
    this.#changed();
  }

  /**
   * Loads the visible pages again, the first one at the beginning. Later pages stay unless the list
   * has changed before them.
   */
  async refresh(signal: AbortSignal): Promise<number> {
    const from = this.#pages.length === 0 ? 0 : this.#pageOf(this.#visible[0])[0];
    const to = Math.max(from, Math.min(this.#pageOf(this.#visible[1])[0], this.#pages.length - 1));
    const generation = (this.#generation += 1);
    const fresh: LoadedPage[] = [];
    let hasMore = true;
    for (let at = from; at <= to && hasMore; at += 1) {
      const page = await this.#load(fresh.at(-1)?.next ?? this.#pages[at - 1]?.next, signal);
      if (generation !== this.#generation) return this.#version;
      fresh.push({ next: page.cursor, count: page.data.length, rows: page.data });
      hasMore = page.hasMore;
    }
    const isSame =
      fresh.at(-1)?.next === this.#pages[from + fresh.length - 1]?.next &&
      fresh.length === to - from + 1;
    const isEnd = from + fresh.length >= this.#pages.length;
    this.#pages.splice(from, isSame ? fresh.length : Infinity, ...fresh);
    if (!isSame || isEnd) this.hasMore = hasMore;
    this.error = null;
    this.#changed();
    return this.#version;
  }

  /** Shows the stored state of an entity. */
  replace(entity: Entity): void {
    for (const page of this.#pages)
      if (page.rows?.some(({ id }) => id === entity.id))
        page.rows = page.rows.map((row) => (row.id === entity.id ? entity : row));
    this.#changed();
  }

  async #fill(at: number): Promise<void> {
    if (this.#loading.has(at)) return;
    this.#loading.add(at);
    const generation = this.#generation;
    try {
      const page = await this.#load(this.#pages[at - 1]?.next);
      if (generation !== this.#generation) return;
      const before = this.#pages[at];
      // An entity was deleted or added in between: the pages after this one begin at
      // other places now.
      const isChanged = before !== undefined && before.next !== page.cursor;
      this.#pages.splice(at, isChanged ? Infinity : 1, {
        next: page.cursor,
        count: page.data.length,
        rows: page.data,
      });
      if (at === this.#pages.length - 1) this.hasMore = page.hasMore;
    } catch (error) {
      if (generation === this.#generation) this.error = error;
    } finally {
      this.#loading.delete(at);
      this.#changed();
    }
  }

  /** The page of a place, and the place of its first row. */
  #pageOf(index: number): [page: number, first: number] {
    let first = 0;
    for (const [at, { count }] of this.#pages.entries()) {
      if (index < first + count) return [at, first];
      first += count;
    }
    return [this.#pages.length, first];
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
