import { type JsonObject, check, detailText } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import type { PermittedCall, Tool, ToolDeps } from '../tool';
import type { ToolResult } from '../types';

export interface BuiltIn extends Tool {
  /** False when a port that the tool needs is not provided. The tool then does not exist. */
  isAvailable?(deps: ToolDeps): boolean;
}

interface BuiltInSpec<Args> extends Omit<BuiltIn, 'parameters' | 'isBuiltin' | 'check' | 'needs'> {
  /** Default: the permission to execute the tool. */
  needs?: Tool['needs'];
  args: z.ZodType<Args>;
  call(args: Args, call: PermittedCall): Promise<ToolResult>;
}

/**
 * Maximum size of what one call of a built-in tool reads, as JSON, with at least one entity or
 * event. It is below that of pages of the Data API, because a call has its result several times in
 * memory, as values and as texts, and many run at once.
 */
export const maxReadBytes = 1_048_576;

/**
 * Defines a built-in tool. Its zod schema both checks the arguments and provides their JSON Schema.
 */
export function defineBuiltIn<Args>({ args: schema, call, ...spec }: BuiltInSpec<Args>): BuiltIn {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  });
  return {
    needs: { action: 'execute' },
    ...spec,
    parameters: parameters as JsonObject,
    isBuiltin: true,
    check(args) {
      const checked = check(schema, args);
      if (checked.ok) return { ok: true, run: (permitted) => call(checked.value, permitted) };
      const problems = checked.problems.slice(0, 5).map(detailText).join('; ');
      return failure('invalid_arguments', `Invalid arguments for ${spec.name}: ${problems}`);
    },
  };
}
