import { recordAudit } from '@parley/audit';
import type { Prepare } from './sample';

export const auditLogSamples = {
  async listAuditLog({ db, scope }) {
    const actor = { type: 'command', id: null, name: null } as const;
    await recordAudit(db, scope, { actor }, { action: 'sample.recorded', after: { note: 'ñ' } });
    return { query: { action: 'sample.recorded' } };
  },
} satisfies Record<string, Prepare>;
