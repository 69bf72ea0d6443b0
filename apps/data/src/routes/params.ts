import { z } from 'zod';

/** Any text may be asked for: what is not the slug of a type is simply not found. */
export const typeParams = z.object({ type: z.string() });
export const entityParams = z.object({ type: z.string(), id: z.string() });
