import { z } from 'zod';

export const visitorQuerySchema = z.object({
  key: z.string().max(100).describe('The publishable key. In the address, so that a preflight has it too.'),
});

export const createVisitorSessionBodySchema = z.strictObject({
  visitorId: z
    .string()
    .max(100)
    .optional()
    .describe('The id that an anonymous visitor got before. Another text is replaced.'),
  identity: z
    .string()
    .max(8_192)
    .optional()
    .describe(
      'A JWT (HS256) with `sub` and an `iat` of the last 5 minutes, which your server signs with the identity secret.',
    ),
});

export const visitorSessionSchema = z.object({
  token: z.string().describe('Send it as `Authorization: Bearer …`.'),
  expiresAt: z.number().int().describe('When the token expires: 30 minutes later. Unix milliseconds.'),
  visitorId: z.string().nullable().describe('The id of an anonymous visitor, which only the browser keeps.'),
});
