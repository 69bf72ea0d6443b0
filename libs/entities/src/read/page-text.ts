import type { Entity } from '@parley/contracts';

/** Entities as the JSON text that PostgreSQL wrote. */
export class EntityListText {
  constructor(
    /** A JSON array of entities. */
    readonly itemsJson: string,
  ) {}

  /** The answer of search in interface.md, ready to send. */
  get json(): string {
    return `{"data":${this.itemsJson}}`;
  }

  get entities(): Entity[] {
    return JSON.parse(this.itemsJson) as Entity[];
  }
}

/** A page of them. */
export class PageText extends EntityListText {
  constructor(
    itemsJson: string,
    /** Where the page ended: pass it back to go on. Empty when the first page is empty. */
    readonly cursor: string,
    readonly hasMore: boolean,
  ) {
    super(itemsJson);
  }

  /** The paginated wrapper of interface.md, ready to send. */
  override get json(): string {
    return `{"data":${this.itemsJson},"cursor":${JSON.stringify(this.cursor)},"hasMore":${this.hasMore}}`;
  }
}
