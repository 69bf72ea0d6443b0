import type { IncomingMessage, ServerResponse } from 'node:http';
import { openApiDocument, type operations } from '@parley/contracts';
import { methodNotAllowed } from '@parley/service';
import type { HeaderList } from '../headers';
import { addressMark } from './curl';
import { escape, pagePolicy, renderPage } from './render-page';

interface Page {
  type: string;
  headers: HeaderList;
  /** `address` is the one that the reader has asked, such as `https://api.example.com`. */
  text: (address: string) => string;
}

/** Creates the value at the first call: most gateways never serve these pages. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

const document = once(openApiDocument);
const page = once(() => renderPage(document()));

type OwnPath = (typeof operations)['openApi' | 'docs']['path'];

/** The documentation pages by path. The document may be read from any origin, for API tools that run in a browser. */
const pages: Record<OwnPath, Page> = {
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    headers: ['Access-Control-Allow-Origin', '*'],
    text: once(() => JSON.stringify(document())),
  },
  '/docs': {
    type: 'text/html; charset=utf-8',
    headers: ['Content-Security-Policy', pagePolicy],
    text: (address) => page().replaceAll(addressMark, escape(address)),
  },
};

export const isDocsPage = (path: string): path is OwnPath => Object.hasOwn(pages, path);

/** Answers `/openapi.json` and `/docs`. */
export function sendDocsPage(
  path: OwnPath,
  request: IncomingMessage,
  response: ServerResponse,
  own: HeaderList,
  address: string,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const { type, headers, text } = pages[path];
  const bytes = Buffer.from(text(address));
  response.writeHead(200, [
    ...own,
    ...headers,
    'Content-Type',
    type,
    'Content-Length',
    String(bytes.length),
    'Cache-Control',
    'no-cache',
  ]);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
