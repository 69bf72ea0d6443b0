import { z } from 'zod';
import { secretNameSchema } from '../definitions/tool';
import { executorLimits } from '../executor';

export const toolSecretLimits = {
  /** UTF-8. */
  valueBytes: executorLimits.secretBytes,
  /** Shorter values would be redacted inside of ordinary text. */
  valueChars: 4,
  perEnvironment: 100,
} as const;

const secretName = secretNameSchema.describe('Name of the secret, as in the `secrets` of a tool.');

export const setToolSecretBodySchema = z.strictObject({
  name: secretName,
  value: z
    .string()
    .min(
      toolSecretLimits.valueChars,
      `must have at least ${toolSecretLimits.valueChars} characters`,
    )
    .refine(
      (value) => new TextEncoder().encode(value).length <= toolSecretLimits.valueBytes,
      `must have at most ${toolSecretLimits.valueBytes} bytes`,
    )
    .describe(
      'The value: at least 4 characters and at most 8,192 bytes of UTF-8. It cannot be read again.',
    ),
});

export const toolSecretParamsSchema = z.object({ name: secretName });

const toolSecretSchema = z.object({
  name: z.string().describe('Name of the secret.'),
  setAt: z
    .number()
    .nullable()
    .describe('When its value was last set, in Unix milliseconds. Null if it is not set.'),
  tools: z.array(z.string()).describe('Names of the tools that declare it.'),
});

export const toolSecretListSchema = z.object({
  data: z
    .array(toolSecretSchema)
    .describe(
      'The secrets that are set, and those that a tool declares and that are not set, ordered by name.',
    ),
});
export type ToolSecretList = z.infer<typeof toolSecretListSchema>;

export const toolSecretChangeSchema = z.object({
  name: z.string().describe('Name of the secret.'),
  setAt: z.number().describe('When its value was set, in Unix milliseconds.'),
});
export type ToolSecretChange = z.infer<typeof toolSecretChangeSchema>;
