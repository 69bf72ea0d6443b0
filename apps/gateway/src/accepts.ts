import type { IncomingMessage } from 'node:http';

/** Whether a client accepts an answer that is compressed in this way. */
export const accepts = ({ headers }: IncomingMessage, coding: 'br' | 'gzip'): boolean =>
  new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0*)?\\s*(?:,|$))`, 'i').test(
    String(headers['accept-encoding'] ?? ''),
  );
