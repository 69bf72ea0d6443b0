import type { Prepare } from './sample';

export const healthReportSamples = {
  async getHealthReport({ db, scope }) {
    await db.pool.query(
      `insert into emails (id, tenant, environment, idempotency_key, "from", "to", subject, status, updated_at)
       values ($1, $2, $3::"Environment", 'k', 'a@example.com', '{b@example.com}', 'Hi', 'failed', now())`,
      [`email_${scope.tenant}`.padEnd(30, '0'), scope.tenant, scope.environment],
    );
    return {};
  },
} satisfies Record<string, Prepare>;
