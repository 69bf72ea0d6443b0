import type { Db } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import { createTools } from './create-tools';
import type { ToolDeps } from './tool';
import type { Tools } from './types';

const logErrors: ToolDeps['log'] = { error: (fields, message) => console.error(message, fields) };

/**
 * Tools without ports and providers, except those that a test gives. Errors are printed unless the
 * test gives a log.
 */
export function createTestTools(
  db: Db,
  given: Partial<ToolDeps> = {},
): { tools: Tools; entities: Entities } {
  const entities = given.entities ?? createEntities({ db });
  const tools = createTools({ db, log: logErrors, ports: {}, ...given, entities });
  return { tools, entities };
}
