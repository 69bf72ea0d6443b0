import { readRegistrations } from '@parley/channels';
import type { Db } from '@parley/db';
import { findSecrets } from '../secrets';
import type { Finding } from './finding';

const name = 'MESSAGING_WEBHOOK_SECRET';
const retry =
  'Wait for the worker, which registers their webhooks again, at most an hour after a failure. Its log has the reason of each failure';
/**
 * An account that has failed this often may never work again, so the replacement of the secret does
 * not wait for it.
 */
const stuckAfterAttempts = 3;

const warning = (detail: string, fix: string): Finding => ({ name, state: 'warning', detail, fix });

/**
 * Checks whether each connection has a secret that is derived from the first one of the deployment
 * (docs/adr/0031).
 */
export async function checkMessagingSecret(db: Db): Promise<Finding> {
  const secrets = findSecrets(name);
  const { registered, outdated } = await readRegistrations(db, secrets);
  const countOf = (some: { id: string; organization: string }[]) => {
    const shown = some.slice(0, 3).map(({ id, organization }) => `${id} of ${organization}`);
    return `${some.length} of ${registered} connections (${shown.join(', ')}${some.length > 3 ? ', …' : ''})`;
  };
  const stuck = outdated.filter(({ attempts }) => attempts >= stuckAfterAttempts);
  if (stuck.length < outdated.length)
    return warning(
      `${countOf(outdated)} have a secret that is derived from an earlier one`,
      `${retry}. Until then, keep the earlier secret in the list after the new one`,
    );
  if (stuck.length > 0)
    return warning(
      `the webhooks of ${countOf(stuck)} could not be registered again; their deliveries are accepted only while their earlier secret is in the list`,
      'Correct the Kapso key of their organizations, or disconnect their numbers (docs/operations.md)',
    );
  if (secrets.length === 0 && registered === 0)
    return { name, state: 'skipped', detail: 'not set; only webhooks trigger needs it' };
  return { name, state: 'ok', detail: `each connection has its own secret (${registered})` };
}
