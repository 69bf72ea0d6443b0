import type { CellProblem, Column, DecimalSign, FileEntity, Format, Schema } from '@parley/rows';

/** What the page asks of the worker. A file is opened once, then read in parts. */
export type Request =
  | { kind: 'open'; file: File; format: Format }
  | ({ kind: 'read'; from: number; count: number } & Reading);

/** How the cells of rows become entities. */
export interface Reading {
  columns: readonly Column[];
  schema: Schema;
  isGuarded: boolean;
  decimal: DecimalSign;
}

export interface OpenedFile {
  /** Null for JSON lines, which need no columns. */
  header: string[] | null;
  rowCount: number;
  /** The first rows, for the choice of columns. */
  sample: string[][];
  /** Whether a file was imported before. */
  fingerprint: string;
  /** Null: the file is no text. */
  encoding: null | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
}

export type RowProblem =
  CellProblem | { expected: 'object' | 'json' | 'fewerCells'; name?: undefined };
export type FileRow =
  { line: number; ok: true; entity: FileEntity } | { line: number; ok: false; problem: RowProblem };

export type Answer = { ok: true; value: OpenedFile | FileRow[] } | { ok: false; error: string };
