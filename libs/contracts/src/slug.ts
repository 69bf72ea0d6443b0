import { z } from 'zod';

/** Names of resources in paths and references: lower-case letters, digits, `-` and `_`. */
export const slugSchema = z
  .string()
  .regex(
    /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,99}$/,
    'must be letters, digits, "-" or "_" (at most 100), starting with a letter or digit',
  );
