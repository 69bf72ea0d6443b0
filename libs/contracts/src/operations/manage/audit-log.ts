import { auditLogSchema, listAuditLogQuerySchema } from '../../http/manage/audit-log';
import { defineOperations, get } from '../operation';

const table = {
  listAuditLog: get('/v1/audit-log', 'manage', { people: 'admin', replica: true }),
};

export const auditLogOperations = defineOperations('Settings', table, {
  listAuditLog: {
    summary: 'List the audit log',
    description:
      'Returns what people, keys and commands changed, newest first: the entries of the environment, and those of the whole organization. Entries are never changed.',
    query: listAuditLogQuerySchema,
    response: auditLogSchema,
    errors: { 400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']] },
    example: {
      response: {
        data: [
          {
            id: '3698432093388800',
            action: 'api_key.created',
            actor: { type: 'person', id: 'user_01', name: 'ana@example.com' },
            address: '203.0.113.7',
            environment: 'production',
            target: { type: 'api_key', id: 'key_01' },
            before: null,
            after: { name: 'website', permissions: ['chat'] },
            requestId: 'req_01',
            createdAt: 1763683200000,
          },
        ],
        cursor: 'c1.WyI…',
        hasMore: false,
      },
    },
  },
});
