import { z } from 'zod';
import { environmentSchema } from '../../scope';
import { jsonObjectSchema } from '../../json';
import { listOf, pageQuery, time, timeInQuery } from './list';

const auditActorTypes = ['api_key', 'person', 'command', 'webhook', 'system'] as const;

const auditEntrySchema = z.object({
  id: z.string().describe('Id of the entry. Increases with time.'),
  action: z.string().describe('What was done, such as `api_key.created`.'),
  actor: z
    .object({
      type: z.enum(auditActorTypes).describe('`command`: a command with access to the database.'),
      id: z.string().nullable().describe('Id of the API key or of the person.'),
      name: z
        .string()
        .nullable()
        .describe('Name of the key, or e-mail address of the person, at that time.'),
    })
    .describe('Who did it.'),
  address: z.string().nullable().describe('Network address of the client.'),
  environment: environmentSchema.nullable().describe('Null for changes of the whole organization.'),
  target: z
    .object({
      type: z.string().describe('Type of the resource.'),
      id: z.string().describe('Id of the resource.'),
    })
    .nullable()
    .describe('The resource that was changed.'),
  before: jsonObjectSchema.nullable().describe('The changed fields before. Secrets are masked.'),
  after: jsonObjectSchema
    .nullable()
    .describe('The changed fields after, or details of the action. Secrets are masked.'),
  requestId: z.string().nullable().describe('Id of the request, as in logs.'),
  createdAt: time('When it was done.'),
});

export const listAuditLogQuerySchema = z.object({
  ...pageQuery,
  action: z.string().max(100).optional().describe('Only entries with this action.'),
  actorId: z.string().max(200).optional().describe('Only entries of this API key or person.'),
  targetId: z.string().max(200).optional().describe('Only entries about this resource.'),
  since: timeInQuery('Only entries from this time on.'),
});

export const auditLogSchema = listOf(auditEntrySchema);
