import { z } from 'zod';

/** The name of a definition in paths and references. */
export const slugSchema = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$/,
    'must be letters, digits, "-" or "_" (at most 100), starting with a letter or digit',
  );
