/**
 * A column of a result: the PostgreSQL types that it may have, and the TypeScript
 * type of its values.
 */
export interface Column<T> {
  readonly types: readonly string[];
  readonly isNullable: boolean;
  readonly nullable: Column<T | null>;
  /** For the type only; never set. */
  readonly of?: T;
}

/** The columns that a statement returns, by name. */
export type Row = Record<string, Column<unknown>>;

/** The type of a row with these columns: `RowOf<typeof emailRow>`. */
export type RowOf<R extends Row> = {
  [Name in keyof R]: R[Name] extends Column<infer T> ? T : never;
};

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

/**
 * The types of columns. `int8` and `numeric` are returned as text, because a number
 * would lose digits.
 */
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
  /**
   * An enum type by its name, or text with a fixed set of values. The values themselves
   * are not checked.
   */
  oneOf: <T extends string>(typeName = 'text'): Column<T> => define<T>(typeName),
};

/** A statement and the rows that it returns. */
export interface Statement<T = object> {
  /** Unique in the repository. `npm test` lists statements that no test ran by this name. */
  readonly name: string;
  /** As PostgreSQL gets it, with numbered parameters. */
  readonly text: string;
  /** The names of the parameters, in the order of their numbers. */
  readonly parameters: readonly string[];
  readonly row: Row;
  /**
   * Name of the prepared statement. Absent for texts that vary: preparing each would fill the
   * connection's memory.
   */
  readonly preparedAs?: string;
  /** May run long. A tenant can run only a few of these at the same time. */
  readonly isLong?: boolean;
  /** For the type only; never set. */
  readonly of?: T;
}

/**
 * Declares a statement. Its parameters have names, such as `$id`, and a call gives their values by
 * name. `$tenant` is the tenant for which the statement runs. Without `row` it returns no columns.
 */
export function statement<R extends Row = Record<never, never>>(
  name: string,
  text: string,
  row?: R,
): Statement<RowOf<R>> {
  return { ...declare(name, text, row), preparedAs: name };
}

/**
 * Declares a statement whose text varies between calls and is not prepared. All texts of one name
 * return the same columns.
 */
export function unprepared<R extends Row = Record<never, never>>(
  name: string,
  text: string,
  row?: R,
): Statement<RowOf<R>> {
  return declare(name, text, row);
}

function declare<R extends Row = Record<never, never>>(
  name: string,
  text: string,
  row?: R,
): Statement<RowOf<R>> {
  if (/\$\d/.test(text)) throw new Error(`The parameters of the statement ${name} need names`);
  const parameters: string[] = [];
  const numbered = text.replace(/\$([a-z]\w*)/gi, (_, parameter: string) => {
    const index = parameters.indexOf(parameter);
    return `$${index === -1 ? parameters.push(parameter) : index + 1}`;
  });
  return { name, text: numbered, parameters, row: row ?? {} };
}

/** Values of parameters by name. */
export type Values = Readonly<Record<string, unknown>>;

/**
 * The values of a statement in the order of its parameters. `tenant`: the one for which it runs, if
 * any. Throws when a value is missing, and when there is no parameter for one.
 */
export function orderValues(
  { name, parameters }: Statement,
  values: Values,
  tenant?: number,
): unknown[] {
  let unused = Object.keys(values).length;
  const ordered = parameters.map((parameter) => {
    if (parameter === 'tenant' && tenant !== undefined) return tenant;
    if (!(parameter in values))
      throw new Error(`The statement ${name} needs a value for $${parameter}`);
    unused -= 1;
    return values[parameter];
  });
  if (unused > 0)
    throw new Error(`Only ${parameters.join(', ')} are parameters of the statement ${name}`);
  return ordered;
}
