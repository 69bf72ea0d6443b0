import type { JsonObject } from '@parley/contracts';
import type { ToolView } from '../types';
import type { CustomTool } from './load-custom-tools';

export const viewOf = ({ definition }: CustomTool): ToolView => ({
  name: definition.name,
  description: definition.description,
  parameters: asObjectSchema(definition.parameters),
  // What user code does is not known, so it is taken for something that must not happen twice.
  sideEffects: true,
  isBuiltin: false,
  templateOnly: definition.templateOnly ?? false,
});

/** Model providers insist on both. */
const asObjectSchema = (parameters: JsonObject): JsonObject => ({ properties: {}, ...parameters, type: 'object' });
