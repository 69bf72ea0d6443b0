import { readRegistrations } from '@parley/channels';
import type { Db } from '@parley/db';
import { findSecrets } from '../secrets';
import type { Finding } from './finding';

const name = 'MESSAGING_WEBHOOK_SECRET';
const retry =
  'Wait for the worker, which registers their webhooks again, at most an hour after a failure. Its log has the reason of each failure';
/** An account that has failed this often may never work again, so the replacement of the secret does not wait for it. */
const stuckAfterAttempts = 3;

const warning = (detail: string, fix: string): Finding => ({ name, state: 'warning', detail, fix });

/**
 * Checks whether organizations can read the secret in their Kapso accounts, where earlier versions registered it
 * (docs/adr/0031).
 */
export async function checkMessagingSecret(db: Db): Promise<Finding> {
  const secrets = findSecrets(name);
  const { registered, shared, outdated, isKnown, isEarlierKnown } = await readRegistrations(
    db,
    secrets,
  );
  const countOf = (some: { id: string; organization: string }[]) => {
    const shown = some.slice(0, 3).map(({ id, organization }) => `${id} of ${organization}`);
    return `${some.length} of ${registered} connections (${shown.join(', ')}${some.length > 3 ? ', …' : ''})`;
  };
  const isStuck = ({ attempts }: { attempts: number }) => attempts >= stuckAfterAttempts;
  const stuck = [...shared, ...outdated].filter(isStuck);
  const failing =
    stuck.length > 0 ? `. The webhooks of ${countOf(stuck)} could not be registered again` : '';
  if (!shared.every(isStuck))
    return warning(
      `is the webhook secret of ${countOf(shared)}, whose organizations can sign for all others`,
      retry,
    );
  if (!outdated.every(isStuck))
    return warning(
      `${countOf(outdated)} have a secret that is derived from an earlier one`,
      `${retry}. Until then, keep the earlier secret in the list after the new one`,
    );
  if (isKnown)
    return warning(
      `organizations can read it: an earlier version registered it with their accounts${failing}`,
      'Replace it: set NEW,OLD, change the secret of the project webhook, and set NEW once this check reports so (docs/operations.md)',
    );
  if (isEarlierKnown)
    return warning(
      `accepts an earlier secret, which organizations can read${failing}`,
      `Remove the earlier secret from the list once the project webhook signs with the first one${failing && '. Then deliveries of the connections that could not be registered are refused until their account works'}`,
    );
  if (stuck.length > 0)
    return warning(
      `the webhooks of ${countOf(stuck)} could not be registered again; their deliveries are accepted only while their earlier secret is in the list`,
      'Correct the Kapso key of their organizations, or disconnect their numbers (docs/operations.md)',
    );
  if (secrets.length === 0 && isKnown === null)
    return { name, state: 'skipped', detail: 'not set; only webhooks trigger needs it' };
  return { name, state: 'ok', detail: `each connection has its own secret (${registered})` };
}
