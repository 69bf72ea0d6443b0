import { ParleyClient } from '@parley/client';

/** A request that a client has sent. */
interface Sent {
  url: string;
  body: unknown;
  key: string | null;
}

/** What the network answers: a status with a body, or `lost` without an answer. */
export type Answer = { status?: number; body?: unknown } | 'lost';

/** A client whose network gives these answers, one for each request. `sent` has the requests. */
export function clientOf(answer: (sent: Sent, index: number) => Answer | Promise<Answer>): {
  client: ParleyClient;
  sent: Sent[];
} {
  const sent: Sent[] = [];
  const network: typeof fetch = async (url, init) => {
    const body: unknown = init?.body ? JSON.parse(init.body as string) : undefined;
    const one = { url: String(url), body, key: new Headers(init?.headers).get('Idempotency-Key') };
    sent.push(one);
    const given = await answer(one, sent.length - 1);
    if (given === 'lost') throw new TypeError('fetch failed');
    return Response.json(given.body ?? {}, { status: given.status ?? 200 });
  };
  const client = new ParleyClient({
    baseUrl: 'http://parley.invalid',
    session: { organizationId: 'org_1', environment: 'development' },
    fetch: network,
    maxRetries: 0,
  });
  return { client, sent };
}
