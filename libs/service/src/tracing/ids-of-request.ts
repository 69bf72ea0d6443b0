import { createHash } from 'node:crypto';

export interface SpanIds {
  traceId: string;
  spanId: string;
}

/**
 * The trace of a request and the id of its first span, both derived from the request id
 * (docs/adr/0028).
 */
export function idsOfRequest(requestId: string): SpanIds {
  const digest = createHash('sha256').update(requestId).digest('hex');
  return { traceId: digest.slice(0, 32), spanId: digest.slice(32, 48) };
}
