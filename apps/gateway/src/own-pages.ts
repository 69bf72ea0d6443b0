import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { openApiDocument, type operations } from '@parley/contracts';
import { methodNotAllowed } from '@parley/service';
import { addressMark } from './docs/curl';
import { escape, pagePolicy, renderPage } from './docs/render-page';
import type { HeaderList } from './headers';
import { sendContent } from './send-content';
import { demoPolicy, renderDemo } from './widget/demo-page';
import { widgetScript } from './widget/script';

interface Page {
  type: string;
  headers: HeaderList;
  /**
   * `address` is the address that the reader requested, such as `https://api.example.com`; `key`
   * the parameter of that name.
   */
  text: (address: string, key: string | null) => string;
  /** How long browsers may cache the page. By default they ask again. */
  cacheControl?: string;
}

/** Creates the value at the first call: most gateways never serve these pages. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
};

const document = once(openApiDocument);
const page = once(() => renderPage(document()));

type OwnPath = (typeof operations)['openApi' | 'docs' | 'widgetScript' | 'widgetDemo']['path'];

/**
 * The pages by path. The document may be read from any origin, for API tools that run in a browser.
 */
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
  '/widget/v1.js': {
    type: 'text/javascript; charset=utf-8',
    headers: ['Access-Control-Allow-Origin', '*', 'Cross-Origin-Resource-Policy', 'cross-origin'],
    text: () => widgetScript,
    cacheControl: 'public, max-age=300, stale-while-revalidate=86400',
  },
  '/widget/demo': {
    type: 'text/html; charset=utf-8',
    headers: ['Content-Security-Policy', demoPolicy],
    text: renderDemo,
  },
};

export const isOwnPage = (path: string): path is OwnPath => Object.hasOwn(pages, path);

/**
 * The first texts are compressed once each. Pages with the address of a request have as many texts
 * as there are addresses: further ones are sent as they are, because compressing one takes 10 ms.
 */
const packed = new Map<string, { zipped: Buffer | null; tag: string }>();
const maxPacked = 20;

function pack(text: string) {
  const known = packed.get(text);
  if (known !== undefined) return known;
  const tag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  if (packed.size >= maxPacked) return { zipped: null, tag };
  const made = { zipped: gzipSync(text, { level: 9 }), tag };
  packed.set(text, made);
  return made;
}

/** Answers a path of `isOwnPage`. */
export function sendOwnPage(
  path: OwnPath,
  request: IncomingMessage,
  response: ServerResponse,
  own: HeaderList,
  address: string,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    throw methodNotAllowed(['GET', 'HEAD']);
  const { type, headers, text, cacheControl = 'no-cache' } = pages[path];
  const plain = text(address, new URL(request.url!, 'http://page').searchParams.get('key'));
  const { zipped, tag } = pack(plain);
  const content = { type, tag, plain, gzip: zipped };
  sendContent(request, response, content, [...own, ...headers], cacheControl);
}
