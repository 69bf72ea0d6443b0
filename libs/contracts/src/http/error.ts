import { z } from 'zod';

const errorDetailSchema = z.object({
  path: z.string().describe('The field, such as `data.total`. Empty for the whole body.'),
  message: z.string().describe('What is wrong with it.'),
});
export type ErrorDetail = z.infer<typeof errorDetailSchema>;

export const errorText = z.string().min(1).describe('What went wrong, for people.');
export const errorCode = z
  .string()
  .describe('A stable code in snake_case, such as `entity_not_found`, for programs.');
export const errorDetails = z
  .array(errorDetailSchema)
  .optional()
  .describe('The fields with problems.');

/** The body of every error response. */
export const errorBodySchema = z.object({
  error: errorText,
  code: errorCode,
  requestId: z.string().describe('Id of the request in logs, also in the header `X-Request-Id`.'),
  details: errorDetails,
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

/**
 * One detail as text: `data.total: must be a number`. The path is left out if the message
 * already begins with it.
 */
export const detailText = ({ path, message }: ErrorDetail): string =>
  path === '' || message.startsWith(path) ? message : `${path}: ${message}`;

export const rateLimitedBodySchema = errorBodySchema.extend({
  retryAt: z.number().int().describe('When the request can be repeated, in Unix milliseconds.'),
});
