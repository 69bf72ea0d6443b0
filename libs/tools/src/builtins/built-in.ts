import type { JsonObject } from '@parley/contracts';
import { z } from 'zod';
import type { Action } from '@parley/permissions';
import type { PermittedCall, ToolDeps } from '../tool';
import type { ToolResult } from '../types';

export interface BuiltIn {
  name: string;
  description: string;
  parameters: JsonObject;
  sideEffects: boolean;
  /** It passes `tx` to everything that it does. */
  transactional: boolean;
  /**
   * What must be permitted: `execute` on the tool's own name, or an action on the type of the entity that the
   * arguments name, by `type` or by the id in the given argument.
   */
  needs: { action: 'execute' } | { action: Exclude<Action, 'execute'>; entityIdIn?: string };
  timeLimitMs?: number;
  /** False when a port that it lives on is not plugged in: then it does not exist. */
  isAvailable(deps: ToolDeps): boolean;
  parse(
    args: JsonObject,
  ): { ok: true; call: (call: PermittedCall) => Promise<ToolResult> } | { ok: false; message: string };
}

interface BuiltInSpec<Args> extends Pick<BuiltIn, 'name' | 'description' | 'sideEffects' | 'needs' | 'timeLimitMs'> {
  args: z.ZodType<Args>;
  transactional?: true;
  isAvailable?: BuiltIn['isAvailable'];
  call(args: Args, call: PermittedCall): Promise<ToolResult>;
}

/** A built-in from its zod schema, which is both the check of its arguments and their JSON Schema. */
export function defineBuiltIn<Args>({ args: schema, call, isAvailable, ...spec }: BuiltInSpec<Args>): BuiltIn {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return {
    ...spec,
    transactional: spec.transactional ?? false,
    parameters: parameters as JsonObject,
    isAvailable: isAvailable ?? (() => true),
    parse(args) {
      const parsed = schema.safeParse(args);
      if (!parsed.success) return { ok: false, message: describe(parsed.error) };
      return { ok: true, call: (run) => call(parsed.data, run) };
    },
  };
}

function describe({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}
