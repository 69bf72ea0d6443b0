import { backlog } from '@parley/db';

/** What failed, waits or is held in the channels of an environment. */
export const channelBacklogs = {
  failedMessages: backlog(
    'failed-messages',
    'messages',
    `status in ('failed', 'unknown') and status = 'failed'`,
  ),
  unknownMessages: backlog(
    'unknown-messages',
    'messages',
    `status in ('failed', 'unknown') and status = 'unknown'`,
  ),
  failedEmails: backlog(
    'failed-emails',
    'emails',
    `status in ('failed', 'unknown', 'bounced') and status <> 'unknown'`,
  ),
  unknownEmails: backlog(
    'unknown-emails',
    'emails',
    `status in ('failed', 'unknown', 'bounced') and status = 'unknown'`,
  ),
  heldMessages: backlog('held-messages', 'messages', `status = 'held'`),
  heldEmails: backlog('held-emails', 'emails', `status = 'held'`),
  /** Numbers whose messages do not arrive, because Kapso has no current webhook of them. */
  unregisteredConnections: backlog(
    'unregistered-connections',
    'channel_connections',
    `phone_number_id is not null and (webhook_id is null or webhook_attempts > 0)`,
  ),
};
