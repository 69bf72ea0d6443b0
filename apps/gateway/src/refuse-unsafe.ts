import type { IncomingMessage } from 'node:http';
import { HttpError } from '@parley/service';

/**
 * Headers that may occur only once: an upstream could choose another value of the two
 * than the gateway.
 */
const singleHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-type',
  'authorization',
  'expect',
]);

/**
 * Closes the connection: the end of the body is unknown, so the next bytes could be read as
 * another request.
 */
const refusal = (status: number, code: string, message: string) =>
  new HttpError(status, code, message, { headers: { Connection: 'close' } });

/**
 * Throws for a request that Node's strict parser accepts but that must not be forwarded: a target
 * that is not a path, a repeated Host header, two lengths of the body, a protocol upgrade.
 */
export function refuseUnsafe({
  url = '',
  httpVersion,
  rawHeaders,
  headers,
}: IncomingMessage): void {
  if (url[0] !== '/')
    throw refusal(400, 'invalid_target', 'Only origin-form request targets are served');
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen.has(name)) throw refusal(400, 'duplicate_header', `More than one ${name} header`);
    seen.add(name);
  }
  if (!seen.has('host') && httpVersion !== '1.0')
    throw refusal(400, 'missing_host', 'No Host header');
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && headers['content-length'] !== undefined) {
    throw refusal(400, 'ambiguous_length', 'Both Content-Length and Transfer-Encoding');
  }
  // HTTP/1.0 has no transfer encodings. An HTTP/1.0 upstream would read the chunks as the body or
  // as the next request.
  if (encoding !== undefined && httpVersion === '1.0') {
    throw refusal(400, 'ambiguous_length', 'Transfer-Encoding in an HTTP/1.0 request');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    throw refusal(
      501,
      'unsupported_transfer_encoding',
      'The only transfer encoding supported is chunked',
    );
  }
  // Some clients offer h2c on every unencrypted connection and accept an HTTP/1.1 answer.
  if (headers.upgrade !== undefined && headers.upgrade.toLowerCase() !== 'h2c') {
    throw refusal(501, 'upgrade_not_supported', 'Protocol upgrades are not supported');
  }
}
