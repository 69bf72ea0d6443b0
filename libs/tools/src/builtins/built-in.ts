import type { JsonObject } from '@parley/contracts';
import { z } from 'zod';
import { failure } from '../failure';
import type { PermittedCall, Tool, ToolDeps } from '../tool';
import type { ToolResult } from '../types';

export interface BuiltIn extends Tool {
  /** False when a port that it lives on is not plugged in: then it does not exist. */
  isAvailable?(deps: ToolDeps): boolean;
}

interface BuiltInSpec<Args> extends Omit<BuiltIn, 'parameters' | 'isBuiltin' | 'check'> {
  args: z.ZodType<Args>;
  call(args: Args, call: PermittedCall): Promise<ToolResult>;
}

/** A built-in from its zod schema, which is both the check of its arguments and their JSON Schema. */
export function defineBuiltIn<Args>({ args: schema, call, ...spec }: BuiltInSpec<Args>): BuiltIn {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return {
    ...spec,
    parameters: parameters as JsonObject,
    isBuiltin: true,
    check(args) {
      const parsed = schema.safeParse(args);
      if (parsed.success) return { ok: true, run: (permitted) => call(parsed.data, permitted) };
      return failure('invalid_arguments', `Invalid arguments for ${spec.name}: ${describe(parsed.error)}`);
    },
  };
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
