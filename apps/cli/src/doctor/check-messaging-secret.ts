import { readRegistrations } from '@parley/channels';
import type { Db } from '@parley/db';
import { findSecrets } from '../secrets';
import type { Finding } from './finding';

const name = 'MESSAGING_WEBHOOK_SECRET';
const retry =
  'The worker registers them again, at most an hour after a failure; its log has the reason for each that fails';

/** Whether organizations know the secret, since earlier versions registered it with their accounts (docs/adr/0031). */
export async function checkMessagingSecret({ pool }: Db): Promise<Finding> {
  const secrets = findSecrets(name);
  const { registered, shared, outdated, isKnown, isEarlierKnown } = await readRegistrations(pool, secrets);
  const countOf = (some: { id: string; organization: string }[]) => {
    const shown = some.slice(0, 3).map(({ id, organization }) => `${id} of ${organization}`);
    return `${some.length} of ${registered} connections (${shown.join(', ')}${some.length > 3 ? ', …' : ''})`;
  };
  if (shared.length > 0)
    return {
      name,
      state: 'warning',
      detail: `is itself the secret of ${countOf(shared)}, whose organizations can sign for all others`,
      fix: retry,
    };
  if (outdated.length > 0)
    return {
      name,
      state: 'warning',
      detail: `${countOf(outdated)} have a secret that is derived from an earlier one`,
      fix: `${retry}. Keep the earlier secret behind the new one until then`,
    };
  if (isKnown)
    return {
      name,
      state: 'warning',
      detail: 'is known to organizations: an earlier version registered it with their accounts',
      fix: 'Replace it: set NEW,OLD, change it at the project webhook, and set NEW once this check says so (docs/operations.md)',
    };
  if (isEarlierKnown)
    return {
      name,
      state: 'warning',
      detail: 'accepts an earlier secret, which organizations know',
      fix: 'Remove it from the list, once the project webhook signs with the first',
    };
  if (secrets.length === 0 && isKnown === null)
    return { name, state: 'skipped', detail: 'is not set; only channels connect and webhooks trigger need it' };
  return { name, state: 'ok', detail: `each connection has a secret of its own (${registered})` };
}
