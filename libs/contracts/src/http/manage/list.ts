import { z } from 'zod';

const limitProblem = 'limit must be a whole number of at least 1';

/** The query of a list with pages of up to `max` items. A page also ends at `pageBytes`. */
export const pageQueryOf = (max: number, byDefault: number) => ({
  limit: z
    .preprocess(
      (value) => (typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value),
      z
        .number(limitProblem)
        .refine((value) => Number.isInteger(value) && value >= 1, limitProblem)
        .default(byDefault)
        .transform((value) => Math.min(value, max)),
    )
    .meta({
      type: 'integer',
      minimum: 1,
      default: byDefault,
      description: `The maximum number of items to return. Values above ${max} count as ${max}.`,
    }),
  cursor: z.string().optional().describe('The `cursor` of the page before.'),
});

/** The query of a list, besides its filters. */
export const pageQuery = pageQueryOf(100, 50);

/** `isTruncated` of an item whose text is cut. `whole`: where the whole text is. */
export const truncated = (whole: string) =>
  z.literal(true).optional().describe(`The text is only its beginning. ${whole}`);

/** A page of a list. */
export const listOf = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item).describe('The items of the page.'),
    cursor: z.string().describe('Send it as `cursor` to get the next page.'),
    hasMore: z.boolean().describe('Whether there are items after this page.'),
  });

/** A filter by time in a query: Unix milliseconds. */
export const timeInQuery = (description: string) =>
  z
    .string()
    .regex(/^\d{1,14}$/, 'must be a time in Unix milliseconds')
    .transform(Number)
    .optional()
    .meta({ type: 'integer', description: `${description} Unix milliseconds.` });

/** A time in a body: Unix milliseconds, until the year 5138. */
export const timeInBody = (description: string) =>
  z.number().int().min(0).max(99_999_999_999_999).describe(`${description} Unix milliseconds.`);

/** A time in a response: Unix milliseconds. */
export const time = (description: string) =>
  z.number().int().describe(`${description} Unix milliseconds.`);

/** The same, or null. */
export const timeOrNull = (description: string) =>
  z.number().int().nullable().describe(`${description} Unix milliseconds.`);

export const idParams = z.object({
  id: z.string().min(1).max(200).describe('Id of the resource.'),
});
