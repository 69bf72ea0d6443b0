import { z } from 'zod';

/** Every error of every service. `details` says where a body failed validation. */
export const errorBodySchema = z.object({
  error: z.string().min(1),
  code: z.string(),
  requestId: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
export type ErrorDetail = { path: string; message: string };

/** What an error says of one detail: `data.total: must be a number`; a message that begins with the name stays alone. */
export const detailText = ({ path, message }: ErrorDetail): string =>
  path === '' || message.startsWith(path) ? message : `${path}: ${message}`;

export const rateLimitedBodySchema = errorBodySchema.extend({ retryAt: z.number().int() });
