import type { JsonObject } from '@parley/contracts';
import { failure } from '../failure';
import type { Tool } from '../tool';
import { type CustomTool, checkOf } from './load-custom-tools';
import { runCustomTool } from './run-custom-tool';

export function toTool(stored: CustomTool): Tool {
  const { name, description, parameters, templateOnly = false } = stored.definition;
  return {
    name,
    description,
    parameters: asObjectSchema(parameters),
    // What user code does is not known, so it is taken for something that must not happen twice.
    sideEffects: true,
    isBuiltin: false,
    templateOnly,
    needs: { action: 'execute' },
    check(args) {
      const checkArguments = checkOf(stored);
      if (checkArguments === null) return failure('execution_error', `The parameters of ${name} are not usable`);
      const problem = checkArguments(args);
      if (problem !== null) return failure('invalid_arguments', `Invalid arguments for ${name}: ${problem}`);
      return { ok: true, run: (call) => runCustomTool(stored.definition, args, call) };
    },
  };
}

/** Model providers insist on both. */
const asObjectSchema = (parameters: JsonObject): JsonObject => ({ properties: {}, ...parameters, type: 'object' });
