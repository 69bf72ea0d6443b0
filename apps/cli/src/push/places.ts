import { SourceMap, type SourceMapPayload } from 'node:module';
import { resolve } from 'node:path';

/** A line of a user's file, from 1. */
export interface Place {
  file: string;
  line: number;
}

/**
 * Returns a function that finds the place of a line of bundled code, from 0. Paths of the map are
 * relative to `folder`.
 */
export function placesOf(sourceMap: string, folder: string): (index: number) => Place | null {
  const map = new SourceMap(JSON.parse(sourceMap) as SourceMapPayload);
  return (index) => {
    const entry = map.findEntry(index, Number.MAX_SAFE_INTEGER);
    if (!('originalSource' in entry) || entry.originalSource.includes(':')) return null;
    return { file: resolve(folder, entry.originalSource), line: entry.originalLine + 1 };
  };
}
