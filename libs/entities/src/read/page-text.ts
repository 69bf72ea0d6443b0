// Step 5 of a query (parse → plan → SQL → run → page): the page as JSON text. PostgreSQL generates
// the text of the entities, and it is sent without being parsed.
import type { Entity } from '@parley/contracts';

/** Entities as JSON text. */
export class EntityListText {
  constructor(
    /** A JSON array of entities. */
    readonly itemsJson: string,
  ) {}

  /** The response body of a search (docs/reference/data.md#search). */
  get json(): string {
    return `{"data":${this.itemsJson}}`;
  }

  get entities(): Entity[] {
    return JSON.parse(this.itemsJson) as Entity[];
  }
}

/** A page of entities as JSON text. */
export class PageText extends EntityListText {
  constructor(
    itemsJson: string,
    /** Points behind the last entity of the page. Empty if there are no entities at all. */
    readonly cursor: string,
    readonly hasMore: boolean,
    /** The number of all matching entities, if it was requested. */
    readonly total?: number,
  ) {
    super(itemsJson);
  }

  /** The response body of a page (docs/reference/data.md#pages). */
  override get json(): string {
    const total = this.total === undefined ? '' : `,"total":${this.total}`;
    return `{"data":${this.itemsJson},"cursor":${JSON.stringify(this.cursor)},"hasMore":${this.hasMore}${total}}`;
  }
}
