import { z } from 'zod';
import { originPatternSchema } from '../../origin';
import { slugSchema } from '../../slug';
import { idParams, listOf, pageQuery, time, timeOrNull } from './list';

export const publishableKeyParamsSchema = idParams;
export const listPublishableKeysQuerySchema = z.object(pageQuery);

const perMinute = (limit: number, ofWhom: string) =>
  z.number().int().min(1).max(10_000).default(limit).describe(`Requests in a minute of ${ofWhom}.`);

const limitsSchema = z.strictObject({
  perVisitor: perMinute(60, 'one visitor'),
  perAddress: perMinute(600, 'one network address'),
  perKey: perMinute(6_000, 'all visitors'),
});

const publishableKeySchema = z.object({
  id: z.string().describe('Id of the key.'),
  name: z.string().describe('The name for people.'),
  key: z.string().describe('The key. It is no secret: a web page may show it.'),
  agentSlug: z.string().nullable().describe('The agent that answers. Null for a router.'),
  routerSlug: z
    .string()
    .nullable()
    .describe('The router that chooses who answers. Null for an agent.'),
  origins: z.array(z.string()).describe('The origins whose pages may use the key.'),
  limits: z
    .object({
      perVisitor: z.number().int().describe('Requests in a minute of one visitor.'),
      perAddress: z.number().int().describe('Requests in a minute of one network address.'),
      perKey: z.number().int().describe('Requests in a minute of all visitors.'),
    })
    .describe('Limits of requests.'),
  createdAt: time('When it was created.'),
  revokedAt: timeOrNull('When it was revoked.'),
});

export const publishableKeyListSchema = listOf(publishableKeySchema);

export const createPublishableKeyBodySchema = z
  .strictObject({
    name: z.string().trim().min(1).max(100).describe('The name for people.'),
    agentSlug: slugSchema.optional().describe('Slug of the agent that answers.'),
    routerSlug: slugSchema
      .optional()
      .describe('Slug of the router that chooses who answers, instead of `agentSlug`.'),
    origins: z
      .array(originPatternSchema)
      .min(1)
      .max(50)
      .describe(
        'Origins such as `https://example.com`, or `*.example.com` for the names below a domain over HTTPS.',
      ),
    limits: limitsSchema.prefault({}).describe('Limits of requests.'),
  })
  .refine(({ agentSlug, routerSlug }) => (agentSlug === undefined) !== (routerSlug === undefined), {
    message: 'Name either agentSlug or routerSlug',
  });

export const createdPublishableKeySchema = publishableKeySchema.extend({
  identitySecret: z
    .string()
    .describe(
      'Your server signs the identities of visitors with it (HS256). It is shown once: keep it secret.',
    ),
});
