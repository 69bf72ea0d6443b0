import { z } from 'zod';

/** `timestamp` is in Unix milliseconds. */
export const healthSchema = z.object({ status: z.literal('ok'), timestamp: z.number() });
