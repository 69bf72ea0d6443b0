/** Of messages that go out: queued to unknown; of those that come in: received to stored. `failed` is of both. */
export const messageStates = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'unknown',
  'received',
  'answering',
  'answered',
  'stored',
] as const;
