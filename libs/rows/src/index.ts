export { type CsvRecord, formatCsvRow, guardText, parseCsv, unguardText } from './csv';
export {
  type CellProblem,
  type Column,
  type FileEntity,
  type Format,
  type Schema,
  columnsOf,
  createWriter,
  entityKeys,
  formats,
  isExportHeader,
  readCells,
  readJsonValue,
} from './entity-rows';
export { ownValue, setOwn } from './own-value';
export {
  type DecimalSign,
  type ReadValue,
  type ValueKind,
  kindOf,
  readValue,
  writeValue,
} from './value';
