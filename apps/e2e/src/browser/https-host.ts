import { createSign, generateKeyPairSync } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, request as httpRequest } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

/** An HTTPS server for all hosts of a test, which Chromium is led to by `--host-resolver-rules`. */
export interface HttpsHosts {
  port: number;
  /** Answers requests to a host, without port. Other hosts are 404. */
  serve(host: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function startHttpsHosts(): Promise<HttpsHosts> {
  const hosts = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server = createServer(createCertificate('example.test'), (request, response) => {
    const answer = hosts.get(URL.parse(`https://${request.headers.host}`)?.hostname ?? '');
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    serve: (host, answer) => void hosts.set(host, answer),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Forwards requests to the gateway, as a proxy in front of it that ends TLS. Headers are passed
 * on byte for byte.
 */
export const forwardTo =
  (gatewayUrl: string) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const headers = {
      ...request.headers,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': request.headers.host,
    };
    const forwarded = httpRequest(
      gatewayUrl + request.url,
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
  };

/** A certificate that is signed with its own key (RFC 5280), which the test's browser accepts. */
function createCertificate(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const text = (tag: number, value: string) => der(tag, Buffer.from(value));
  const algorithm = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex')); // ecdsa-with-SHA256
  const commonName = der(0x30, Buffer.from('0603550403', 'hex'), text(0x0c, name));
  const subject = der(0x30, der(0x31, commonName));
  const validity = der(0x30, text(0x17, '200101000000Z'), text(0x17, '491231235959Z'));
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])), // serial number
    algorithm,
    subject, // the issuer
    validity,
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const certificate = der(0x30, body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = certificate
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** A value in DER: its tag, its length in as few bytes as possible, and its bytes. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const bytes = Buffer.concat(parts);
  const { length } = bytes;
  let head = [tag, length];
  if (length >= 0x80) head = [tag, 0x81, length];
  if (length >= 0x100) head = [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), bytes]);
}
