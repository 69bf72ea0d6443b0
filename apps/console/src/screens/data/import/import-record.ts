import type { Workspace } from '../../../api/session';
import { stored } from '../../../stored';
import type { ImportState } from './run-import';

/**
 * An import of this browser, by its file and how it is read: another choice of columns
 * is another import.
 */
export interface ImportRecord extends ImportState {
  of: string;
  at: number;
}

const box = stored('imports');
/** Records that are kept; the oldest are forgotten. */
const maxRecords = 30;

export const recordKey = (
  { key }: Workspace,
  type: string,
  fingerprint: string,
  reading: object,
): string => JSON.stringify([...key, type, fingerprint, reading]);

function read(): ImportRecord[] {
  try {
    const records: unknown = JSON.parse(box.get() ?? '[]');
    return Array.isArray(records) ? (records as ImportRecord[]) : [];
  } catch {
    return [];
  }
}

export const findRecord = (of: string): ImportRecord | undefined =>
  read().find((record) => record.of === of);

export function saveRecord(of: string, state: ImportState): void {
  const others = read().filter((record) => record.of !== of);
  box.set(JSON.stringify([{ ...state, of, at: Date.now() }, ...others].slice(0, maxRecords)));
}
