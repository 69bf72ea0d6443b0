import { createHash } from 'node:crypto';
import { type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { methodNotAllowed, notFound } from '@parley/service';
import type { HeaderList } from './headers';
import { type Content, sendContent } from './send-content';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The policy of the console: its own files and the API, pictures and sounds of messages, and
 * nothing of another origin.
 */
const policy = [
  ...[
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
  ],
  ...["connect-src 'self'", "manifest-src 'self'", "worker-src 'self'"],
  ...["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"],
].join('; ');

const building = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><meta name="color-scheme" content="light dark"><title>Parley</title></head>
<body><p>The console is being built. This page loads it when it is ready.</p></body></html>
`;

interface File extends Content {
  changedMs: number;
}

export type SendConsole = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  own: HeaderList,
) => Promise<void>;

export const isConsolePath = (path: string): boolean =>
  path === '/console' || path.startsWith('/console/');

/**
 * Answers the paths below `/console`: its files, and its page for all other paths, which are its
 * screens. Files have the hash of their content in their names, so browsers keep them; the page is
 * asked for again each time. `folder`: written by tools/build-console.mjs. While it does not exist,
 * the answer is 503.
 */
export function createConsole(folder: string): SendConsole {
  const cache = new Map<string, File>();

  async function read(name: string): Promise<File | null> {
    const path = join(folder, name);
    const found = await stat(path).catch((): Stats | null => null);
    if (!found?.isFile()) return null;
    const known = cache.get(name);
    if (known?.changedMs === found.mtimeMs) return known;
    const [plain, br, gzip] = await Promise.all([
      readFile(path),
      ...['.br', '.gz'].map((ending) => readFile(path + ending).catch(() => null)),
    ]);
    const tag = `W/"${createHash('sha256').update(plain!).digest('base64url').slice(0, 22)}"`;
    const type = types[extname(name)] ?? 'application/octet-stream';
    const file = { type, tag, plain: plain!, br: br!, gzip: gzip!, changedMs: found.mtimeMs };
    // A new build has other names.
    if (name === 'index.html') cache.clear();
    cache.set(name, file);
    return file;
  }

  return async (path, request, response, own) => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw methodNotAllowed(['GET', 'HEAD']);
    if (path === '/console') {
      response.writeHead(308, [...own, 'Location', '/console/', 'Content-Length', '0']).end();
      return;
    }
    const name = path.slice('/console/'.length);
    const isAsset = /^assets\/[\w-][\w.-]*$/.test(name);
    const isRootFile = /^[\w-]+\.(svg|png|webmanifest|txt)$/.test(name);
    const file = await read(isAsset || isRootFile ? name : 'index.html');
    if (file === null) {
      const isBuilt = name !== 'index.html' && (await read('index.html')) !== null;
      if (isBuilt) throw notFound(`No such path: ${path}`, 'unknown_path');
      const headers = [
        'Content-Type',
        types['.html']!,
        'Retry-After',
        '2',
        'Cache-Control',
        'no-store',
      ];
      response.writeHead(503, [...own, 'Content-Security-Policy', policy, ...headers]);
      response.end(request.method === 'HEAD' ? undefined : building);
      return;
    }
    const caching = isAsset ? 'public, max-age=31536000, immutable' : 'no-cache';
    sendContent(request, response, file, [...own, 'Content-Security-Policy', policy], caching);
  };
}
