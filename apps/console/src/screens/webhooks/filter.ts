import type { InputOf, ResultOf } from '@parley/client/manage';

export type Delivery = ResultOf<'listWebhookDeliveries'>['data'][number];
type ReplayStatus = InputOf<'replayWebhookDeliveries'>['status'];

const hourMs = 3_600_000;
const ranges = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs } as const;

export interface DeliveryFilter {
  provider?: string;
  status?: string;
  since?: string;
}

/** A filter of the address as the API reads it: its range ends now. */
export const inputOf = ({ provider, status, since }: DeliveryFilter, nowMs = Date.now()) => ({
  provider,
  status: status as Delivery['status'] | undefined,
  since:
    since !== undefined && Object.hasOwn(ranges, since)
      ? nowMs - ranges[since as keyof typeof ranges]
      : undefined,
});

/** Whether deliveries of this status can be replayed together. */
export const isReplayed = (status: string | undefined): status is ReplayStatus =>
  status === 'processed' || status === 'ignored' || status === 'failed';

/** The filter of a replay; null when the API replays no deliveries of this status together. */
export const replayOf = (
  filter: DeliveryFilter,
  nowMs = Date.now(),
): InputOf<'replayWebhookDeliveries'> | null =>
  isReplayed(filter.status)
    ? { ...inputOf(filter, nowMs), status: filter.status, until: nowMs }
    : null;
