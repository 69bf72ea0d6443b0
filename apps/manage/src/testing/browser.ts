import type { RequestListener } from 'node:http';
import type { OidcServer } from '@parley/testing';
import request from 'supertest';

/** A browser with the cookies of this host, which it gets over HTTPS. */
export interface Browser {
  /** By name. A test plants one by setting it. */
  cookies: Map<string, string>;
  get(path: string): request.Test;
  /**
   * A change as a page of this host sends it; `headers` replace what browsers say about the page.
   */
  change(
    method: 'post' | 'delete',
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ): request.Test;
  /**
   * Begins to sign in at the provider. Returns the path to which the provider sends
   * the browser back.
   */
  signInAt(provider: OidcServer, body?: object): Promise<string>;
}

export function createBrowser(app: RequestListener, own: Record<string, string> = {}): Browser {
  const cookies = new Map(Object.entries(own));
  const send = (test: request.Test, headers: Record<string, string> = {}) =>
    test
      .set('X-Forwarded-Proto', 'https')
      .set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
      .set(headers)
      .on('response', (response: request.Response) => keep(cookies, response));
  const browser: Browser = {
    cookies,
    get: (path) => send(request(app).get(path)),
    change: (method, path, body = {}, headers = { 'Sec-Fetch-Site': 'same-origin' }) =>
      send(request(app)[method](path), headers).send(body),
    async signInAt(provider, body = {}) {
      const begun = await browser.change('post', '/v1/sign-in/oidc', body).expect(200);
      const back = new URL(await provider.signIn(begun.body.url));
      return back.pathname + back.search;
    },
  };
  return browser;
}

function keep(cookies: Map<string, string>, { headers }: request.Response): void {
  for (const set of (headers['set-cookie'] ?? []) as unknown as string[]) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    if (value === '') cookies.delete(name);
    else cookies.set(name, value);
  }
}
