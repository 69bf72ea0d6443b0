import { createRequire } from 'node:module';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Starts `http-proxy` from its installation folder as a proxy of the given service, configured
 * as in its manual.
 */
const [folder = '', target = ''] = process.argv.slice(2);
interface HttpProxy {
  createProxyServer(options: object): { web(request: unknown, response: unknown): void };
}
const { createProxyServer } = createRequire(`${folder}/package.json`)('http-proxy') as HttpProxy;
const proxy = createProxyServer({ target, agent: new Agent({ keepAlive: true }) });
const server = createServer((request, response) => proxy.web(request, response));
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
