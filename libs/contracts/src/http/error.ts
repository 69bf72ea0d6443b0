import { z } from 'zod';

/** The body of every error response. `details` lists the fields that failed validation. */
export const errorBodySchema = z.object({
  error: z.string().min(1),
  code: z.string(),
  requestId: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;
export type ErrorDetail = { path: string; message: string };

/** One detail as text: `data.total: must be a number`. The path is left out if the message already begins with it. */
export const detailText = ({ path, message }: ErrorDetail): string =>
  path === '' || message.startsWith(path) ? message : `${path}: ${message}`;

export const rateLimitedBodySchema = errorBodySchema.extend({ retryAt: z.number().int() });
