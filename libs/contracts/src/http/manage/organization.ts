import { z } from 'zod';

const name = z.string().trim().min(1).max(200).describe('The name for people, also in prompts.');
const timezone = z
  .string()
  .min(1)
  .max(64)
  .describe('IANA time zone of dates in prompts and of schedules, such as `America/Santiago`.');

export const organizationSchema = z.object({
  id: z.string().describe('Id of the organization.'),
  slug: z.string().describe('The name in commands. It does not change.'),
  name,
  timezone,
});

export const changeOrganizationBodySchema = z
  .strictObject({ name: name.optional(), timezone: timezone.optional() })
  .refine((body) => Object.keys(body).length > 0, 'must have at least one field');
