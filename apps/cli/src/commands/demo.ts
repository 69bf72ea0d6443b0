import { withDatabase } from '../database';
import { seedDemo } from '../demo/seed';
import { demoSlug } from '../organizations';
import { print } from '../terminal';

/** `parley demo [--new-key]`: one JSON line; the key is in it only when it was made just now. */
export async function runDemo({ newKey }: { newKey?: boolean }): Promise<void> {
  const { key } = await withDatabase((db) => seedDemo(db, { newKey }));
  print(JSON.stringify({ organization: demoSlug, key }));
}
