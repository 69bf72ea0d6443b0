/** A column of a result: the PostgreSQL types that it may have, and the TypeScript type that the driver makes of them. */
export interface Column<T> {
  readonly types: readonly string[];
  readonly isNullable: boolean;
  readonly nullable: Column<T | null>;
  /** Carries the type alone; there is no such value. */
  readonly of?: T;
}

/** The columns that a statement returns, by name. */
export type Row = Record<string, Column<unknown>>;

/** What the driver delivers for these columns: `RowOf<typeof emailRow>`. */
export type RowOf<R extends Row> = { [Name in keyof R]: R[Name] extends Column<infer T> ? T : never };

function define<T>(...types: string[]): Column<T> {
  const nullable: Column<T | null> = {
    types,
    isNullable: true,
    get nullable() {
      return nullable;
    },
  };
  return { types, isNullable: false, nullable };
}

/** The types of columns. `int8` and `numeric` arrive as text, because a number would lose digits. */
export const column = {
  text: define<string>('text', 'varchar', 'bpchar', 'name'),
  int4: define<number>('int4', 'int2'),
  int8: define<string>('int8', 'numeric', 'xid8'),
  float8: define<number>('float8', 'float4'),
  bool: define<boolean>('bool'),
  timestamptz: define<Date>('timestamptz', 'timestamp'),
  bytea: define<Buffer>('bytea'),
  textArray: define<string[]>('_text', '_varchar'),
  jsonb: <T>(): Column<T> => define<T>('jsonb', 'json'),
  /** One of some texts: an enum of the schema by its name, or text that holds nothing else. */
  oneOf: <T extends string>(typeName = 'text'): Column<T> => define<T>(typeName),
};

/** A statement and the rows that it returns. */
export interface Statement<T = object> {
  /** Unique in the deployment: connections keep the statement prepared under it, and tests list statements by it. */
  readonly name: string;
  readonly text: string;
  readonly row: Row;
  /** Absent for texts that are made anew for each call: they would fill the connections. */
  readonly preparedAs?: string;
  /** Carries the type alone. */
  readonly of?: T;
}

/** Declares a statement once, beside the function that runs it. Without `row` it returns none. */
export function statement<R extends Row = Record<never, never>>(
  name: string,
  text: string,
  row?: R,
): Statement<RowOf<R>> {
  return { name, text, row: row ?? {}, preparedAs: name };
}

/** The same for a text that varies from call to call, which is not kept prepared. Texts of one name return the same rows. */
export function unprepared<R extends Row = Record<never, never>>(
  name: string,
  text: string,
  row?: R,
): Statement<RowOf<R>> {
  return { name, text, row: row ?? {} };
}
