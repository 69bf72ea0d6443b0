import { z } from 'zod';
import { integrationKinds, integrationSettingsSchema } from '../../integrations';
import { timeOrNull } from './list';

const provider = z
  .string()
  .min(1)
  .max(80)
  .describe(
    "`flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with OpenAI's protocol.",
  );
const enabled = z
  .boolean()
  .describe('A provider that is switched off keeps its settings and counts as not configured.');

export const integrationParamsSchema = z.object({ provider });

const fieldSchema = z.object({
  name: z.string().describe('Name of the field in `settings`.'),
  isRequired: z.boolean().describe('Whether the provider requires it.'),
  isSecret: z.boolean().describe('Whether it is encrypted and only shown masked.'),
  description: z.string().describe('What it is.'),
  value: z
    .union([z.string(), z.record(z.string(), z.string())])
    .nullable()
    .describe(
      'The value; of a secret at most the last four characters (`••••1234`). Null: not set.',
    ),
});

export const integrationSchema = z.object({
  provider,
  kind: z.enum(integrationKinds).describe('What it is for.'),
  isConfigured: z.boolean().describe('Whether it has settings.'),
  enabled,
  isReadable: z
    .boolean()
    .describe('False: no key of the installation decrypts its secrets. Set them again.'),
  fields: z.array(fieldSchema).describe('The fields of the provider.'),
  updatedAt: timeOrNull('When it was last changed. Null: never.'),
});

export const integrationListSchema = z.object({
  data: z
    .array(integrationSchema)
    .describe(
      'The configured providers and those that every environment can configure, ordered by name.',
    ),
});

export const createIntegrationBodySchema = z.strictObject({
  provider,
  settings: integrationSettingsSchema.describe('The fields of the provider.'),
});

export const updateIntegrationBodySchema = z
  .strictObject({
    settings: integrationSettingsSchema
      .optional()
      .describe('Fields to change. Null removes a field; fields that are absent stay.'),
    enabled: enabled.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must have at least one field');

export const integrationTestSchema = z.object({
  ok: z.boolean().describe('Whether the provider accepts the settings.'),
  reason: z.string().describe('What the provider answered, or why the test failed.'),
  durationMs: z.number().int().describe('How long the test took, in milliseconds.'),
});
