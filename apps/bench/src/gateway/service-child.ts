import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A minimal service: reads the request and answers 1 KiB of JSON. */
const answer = Buffer.from(JSON.stringify({ data: 'x'.repeat(1013) }));

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': answer.length,
    });
    response.end(answer);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
