import { fetchFresh } from './fetch-fresh';

let nowMs = 100_000;
let sent: { url: string; init: RequestInit | undefined }[] = [];
let answer: () => Promise<Response> = async () => new Response();

beforeAll(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    sent.push({ url: String(url), init });
    return answer();
  });
});
beforeEach(() => {
  nowMs += 100_000;
  sent = [];
  answer = async () => new Response();
});
afterAll(() => jest.restoreAllMocks());

const isFresh = (at: number): boolean =>
  new Headers(sent[at]!.init?.headers).get('Cache-Control') === 'no-cache';

test('a read may come from a replica while nothing was changed', async () => {
  await fetchFresh('/v1/threads', { headers: { Accept: 'x' } });
  expect(isFresh(0)).toBe(false);
});

test('for 5 seconds after a change, reads ask for what is stored now', async () => {
  await fetchFresh('/v1/threads', { method: 'POST' });
  await fetchFresh('/v1/threads', { headers: { Accept: 'x' } });
  await fetchFresh('/v1/threads');
  nowMs += 4_999;
  await fetchFresh('/v1/threads', { method: 'GET' });
  nowMs += 1;
  await fetchFresh('/v1/threads');
  expect([1, 2, 3, 4].map(isFresh)).toEqual([true, true, true, false]);
  expect(new Headers(sent[1]!.init?.headers).get('Accept')).toBe('x');
});

test('the time begins with the answer to the change, which may take long', async () => {
  let respond = (_: Response) => {};
  answer = () => new Promise((resolve) => (respond = resolve));
  const change = fetchFresh('/v1/threads', { method: 'PATCH' });
  nowMs += 60_000;
  respond(new Response());
  await change;
  answer = async () => new Response();
  await fetchFresh('/v1/threads');
  expect(isFresh(1)).toBe(true);
});

test('a change whose answer was lost may have been made', async () => {
  answer = () => Promise.reject(new TypeError('fetch failed'));
  await expect(fetchFresh('/v1/threads', { method: 'DELETE' })).rejects.toThrow('fetch failed');
  answer = async () => new Response();
  await fetchFresh('/v1/threads');
  expect(isFresh(1)).toBe(true);
});
