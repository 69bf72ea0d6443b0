import type { IncomingMessage, ServerResponse } from 'node:http';
import { openApiDocument, type operations } from '@parley/contracts';
import { methodNotAllowed } from '@parley/service';
import type { HeaderList } from '../headers';
import { pagePolicy, renderPage } from './render-page';

interface Page {
  type: string;
  headers: HeaderList;
  text: () => string;
}

/** Creates the value at the first call: most gateways never serve these pages. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

const document = once(openApiDocument);

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
    text: once(() => renderPage(document())),
  },
};

export const isDocsPage = (path: string): path is OwnPath => Object.hasOwn(pages, path);

/** Answers `/openapi.json` and `/docs`. */
export function sendDocsPage(path: OwnPath, request: IncomingMessage, response: ServerResponse, own: HeaderList): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD']);
  const { type, headers, text } = pages[path];
  const bytes = Buffer.from(text());
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
