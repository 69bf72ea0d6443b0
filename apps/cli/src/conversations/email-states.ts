/** `unknown`: it may have been sent. */
export const emailStates = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'unknown',
] as const;
