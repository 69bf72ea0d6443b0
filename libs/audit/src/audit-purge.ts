import { purgeRows } from '@parley/db';

/** The steps of a purge that delete the audit log of a tenant. */
export const auditPurge = purgeRows(['audit_log'], 'id', 'order by id');
