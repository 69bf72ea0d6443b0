import {
  type CellProblem,
  type FileEntity,
  type Format,
  type Schema,
  columnsOf,
  entityKeys,
  formats,
  isExportHeader,
  parseCsv,
  readCells,
  readJsonValue,
} from '@parley/rows';
import { usageFailure } from '../failure';

/** An import creates every row: the id of an exported entity is not used. */
export type NewEntity = Omit<FileEntity, 'id'>;

export function formatOf(given: string | undefined, file: string | undefined): Format {
  const name = given ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'jsonl');
  if (!(formats as readonly string[]).includes(name))
    throw usageFailure(`--format must be csv or jsonl, not "${name}"`);
  return name as Format;
}

/**
 * Parses the entities of a file, in order. Lists each row that cannot be read; callers
 * then import none.
 */
export function readRows(
  text: string,
  format: Format,
  schema: Schema,
): { rows: NewEntity[]; problems: string[] } {
  const problems: string[] = [];
  const rows = format === 'csv' ? readCsv(text, schema, problems) : readJsonLines(text, problems);
  return { rows, problems };
}

const toNewEntity = ({ id: _, ...entity }: FileEntity): NewEntity => entity;

function readJsonLines(text: string, problems: string[]): NewEntity[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const entity = readJsonValue(JSON.parse(line));
      if (entity === null) throw new Error('must be a JSON object');
      return [toNewEntity(entity)];
    } catch (error) {
      problems.push(`line ${index + 1}: ${(error as Error).message}`);
      return [];
    }
  });
}

function readCsv(text: string, schema: Schema, problems: string[]): NewEntity[] {
  const found: NewEntity[] = [];
  try {
    const [first, ...lines] = parseCsv(text);
    if (first === undefined) return [];
    const header = first.cells.map((name) => name.trim());
    problems.push(...headerProblems(header));
    if (problems.length > 0) return [];
    const columns = columnsOf(header);
    const isGuarded = isExportHeader(header);
    let number = 1;
    for (const { cells } of lines) {
      number += 1;
      const nameless = header.findIndex((name, at) => name === '' && (cells[at] ?? '') !== '');
      const read = readCells(columns, cells, schema, { isGuarded });
      if (cells.length > header.length)
        problems.push(
          `row ${number}: has ${cells.length} fields, but the header has ${header.length}`,
        );
      else if (nameless >= 0)
        problems.push(
          `row ${number}: column ${nameless + 1} has a value but no name in the header: ${cells[nameless]}`,
        );
      else if (read.ok) found.push(toNewEntity(read.entity));
      else problems.push(`row ${number}: ${textOf(read.problem)}`);
    }
  } catch (error) {
    problems.push((error as Error).message);
  }
  return found;
}

/** A column whose values would be lost is an error, found before any row is read. */
function headerProblems(header: string[]): string[] {
  const problems: string[] = [];
  const doubled = header.filter((name, at) => name !== '' && header.indexOf(name) < at);
  if (doubled.length > 0)
    problems.push(`header: duplicate column ${[...new Set(doubled)].join(', ')}`);
  const bare = header.filter(
    (name) => name !== '' && !name.startsWith('data.') && !entityKeys.has(name),
  );
  if (isExportHeader(header) && bare.length > 0) {
    problems.push(
      `header: ${bare.join(', ')} would not be imported, because other columns are named data.<field>. ` +
        `Rename to ${bare.map((name) => `data.${name}`).join(', ')}, or remove the prefix "data." from all columns`,
    );
  }
  return problems;
}

const expectations = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  json: 'JSON',
  object: 'a JSON object',
  array: 'a JSON array',
};
const textOf = ({ name, expected, text }: CellProblem): string =>
  `${name} must be ${expectations[expected]}: ${text}`;
