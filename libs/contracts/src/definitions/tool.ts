import { z } from 'zod';
import { jsonObjectSchema } from '../json';

export const toolDefinitionSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-zA-Z][\w-]*(\.[a-zA-Z][\w-]*)*$/, 'must be words joined by dots, such as "orders.refund"')
    .max(64),
  description: z.string().min(1).max(4000),
  /** JSON Schema of the arguments. */
  parameters: jsonObjectSchema,
  /** Body of `async (args, context, parley, fetch) => …`, JavaScript or TypeScript. */
  handlerCode: z.string().min(1).max(262_144),
  /** The tool can only be called from templates and triggers and is never offered to a model. */
  templateOnly: z.boolean().optional(),
  allowedHosts: z.array(z.string().min(1).max(253)).max(50).optional(),
});
export type ToolDefinition = z.infer<typeof toolDefinitionSchema>;
