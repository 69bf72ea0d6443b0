import { z } from 'zod';
import { jsonObjectSchema } from '../json';
import { executorLimits, hostPatternSchema } from '../executor';
import { slugSchema } from '../slug';

/** The name of a secret, as handlers read it: `context.secrets.NAME`. */
export const secretNameSchema = z
  .string()
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    'must be 1 to 64 capital letters, digits and _, beginning with a letter',
  );

/** The value of `runAs` that is not a role. */
export const systemRunAs = 'system';

export const toolDefinitionSchema = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-zA-Z][\w-]*(\.[a-zA-Z][\w-]*)*$/,
      'must be words joined by dots, such as "orders.refund"',
    )
    .max(64)
    .describe(
      'Words joined by dots, such as `orders.refund`. Not the name of a built-in tool, and not below `mcp.`. Two names must differ by more than `.` and `_`.',
    ),
  description: z
    .string()
    .min(1)
    .max(4000)
    .describe('What the tool does and when to call it. Models read it.'),
  parameters: jsonObjectSchema.describe(
    'JSON Schema of the arguments, with `type: "object"`. At most 65,536 characters as JSON.',
  ),
  handlerCode: z
    .string()
    .min(1)
    .max(executorLimits.handlerCodeChars)
    .describe('Body of `async (args, context, parley, fetch) => …`, in JavaScript or TypeScript.'),
  templateOnly: z
    .boolean()
    .optional()
    .describe(
      'Whether the tool can only be called from templates and triggers, and is not offered to models. Default: `false`.',
    ),
  allowedHosts: z
    .array(hostPatternSchema)
    .max(50)
    .optional()
    .describe(
      'Hosts that `fetch` may reach: `api.example.com`, `*.example.com`. Default: every public host. `[]`: none.',
    ),
  runAs: slugSchema
    .optional()
    .describe(
      'What the handler does with `parley` is done with the rights of this role, or of the system (`system`). The caller still needs the permission for the tool. Default: the rights of the caller.',
    ),
  secrets: z
    .array(secretNameSchema)
    .max(executorLimits.secrets)
    .refine((names) => new Set(names).size === names.length, 'must not name a secret twice')
    .optional()
    .describe(
      'Names of the secrets that the handler reads as `context.secrets.NAME`. Their values are set with `parley tool-secrets set`. Default: none.',
    ),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
