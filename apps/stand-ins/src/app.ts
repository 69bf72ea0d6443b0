import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpError, type Logger, readBody } from '@parley/service';
import { answerApi, digitsOf, isApiPath, write } from './api';
import { findOrder, settle } from './flow';
import { type KapsoDeps, connectCustomer, numberOfCustomer } from './kapso';
import * as pages from './pages';
import { type ApiAnswer, textOf } from './provider';
import type { Account } from './store';

export interface StandInsDeps extends KapsoDeps {
  log: Logger;
  /**
   * After a message the conversation page waits this long for the reply, because it has no script
   * that could add it.
   */
  replyWaitMs?: number;
}

/** More than the largest message or e-mail that is kept. */
const maxBodyBytes = 1024 * 1024;
const usualReplyWaitMs = 8_000;
const emailPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";
const fallbackCustomer = '56911111111';

/**
 * The stand-ins of the providers for development (docs/adr/0049): Flow below /flow, Kapso below
 * /kapso and Resend below /resend, each with the provider's protocol; the pages of payers, customers
 * and readers; and /api for the command line.
 */
export function createStandIns(deps: StandInsDeps): RequestListener {
  return (request, response) => {
    handle(deps, request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      const isExpected = error instanceof HttpError;
      if (!isExpected) deps.log.error({ err: error }, 'a request failed');
      const status = isExpected ? error.status : 500;
      const message = isExpected ? error.message : 'The log of npm start shows the reason.';
      if (isApiPath(request.url!))
        sendAnswer(response, { status, body: { message, error: message } });
      else
        sendPage(
          response,
          status,
          pages.messagePage(isExpected ? 'Not possible' : 'Internal error', message),
        );
    });
  };
}

async function handle(
  deps: StandInsDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { address } = deps;
  const method = request.method!;
  const url = URL.parse(request.url!, 'http://stand-ins');
  if (url === null) throw new HttpError(400, 'bad_request', 'The address cannot be read');
  refuseForeign(request, address);
  const body =
    method === 'GET' || method === 'HEAD'
      ? ''
      : (await readBody(request, maxBodyBytes)).toString('utf8');
  const call = {
    method,
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body,
  };
  const answer = await answerApi(deps, call);
  if (answer !== null) return sendAnswer(response, answer);
  if (method === 'POST') return press(deps, response, url.pathname, new URLSearchParams(body));
  if (method !== 'GET' && method !== 'HEAD')
    throw new HttpError(405, 'method_not_allowed', 'Only GET and POST');
  show(deps, response, url);
}

/**
 * Refuses names of other hosts, which a web page can point at this machine to read its messages,
 * and forms of other sites, which could send messages.
 */
function refuseForeign({ headers, method }: IncomingMessage, address: string): void {
  const host = URL.parse(`http://${headers.host ?? ''}`);
  const names = ['localhost', '127.0.0.1', '[::1]', new URL(address).hostname];
  if (host === null || !names.includes(host.hostname))
    throw new HttpError(421, 'unknown_host', `The stand-ins are at ${address}`);
  const { 'sec-fetch-site': site, origin } = headers;
  const isForeignSite = site !== undefined && site !== 'same-origin';
  const isForeignOrigin = origin !== undefined && URL.parse(origin)?.host !== host.host;
  if (method === 'POST' && (isForeignSite || isForeignOrigin))
    throw new HttpError(403, 'foreign_form', 'Forms of other sites are refused');
}

/** Shows a page. */
function show(
  { store }: StandInsDeps,
  response: ServerResponse,
  { pathname, searchParams: query }: URL,
): void {
  if (pathname === '/') return sendPage(response, 200, pages.overviewPage(store.all()));
  if (pathname === '/flow/pay') return showOrder(store, response, query.get('token') ?? '', null);
  if (pathname === '/connect')
    return sendPage(response, 200, pages.connectPage(query.get('customer') ?? '', null, null));
  if (pathname === '/whatsapp') {
    const number = query.get('number') ?? '';
    const account = accountOf(store.all(), number);
    return showConversation(response, account, number, query.get('customer') || fallbackCustomer);
  }
  const [, id, isHtml] = /^\/emails\/([\w-]+)(\/html)?$/.exec(pathname) ?? [];
  const email = store
    .all()
    .flatMap(({ emails }) => emails)
    .find((one) => one.id === id);
  if (email === undefined)
    throw new HttpError(
      404,
      'not_found',
      'There is no such page. Only the newest entries are kept.',
    );
  if (isHtml === undefined) return sendPage(response, 200, pages.emailPage(email));
  sendPage(response, 200, textOf(email.request.html), emailPolicy);
}

/** Handles a button. */
async function press(
  deps: StandInsDeps,
  response: ServerResponse,
  path: string,
  form: URLSearchParams,
): Promise<void> {
  const { store } = deps;
  const read = (name: string) => form.get(name) ?? '';
  if (path === '/flow/pay') {
    const token = read('token');
    const choice = read('choice');
    if (choice !== 'pay' && choice !== 'refuse')
      throw new HttpError(400, 'bad_request', 'Choose Pay or Refuse');
    const problem =
      findOrder(store, token) === undefined ? null : await settle(store, token, choice);
    // Another page after a success, so that a reload does not press the button again.
    if (problem === null) return redirect(response, `/flow/pay?token=${encodeURIComponent(token)}`);
    return showOrder(store, response, token, problem);
  }
  if (path === '/connect') {
    const customer = read('customer').slice(0, 100);
    const problem = await connectCustomer(deps, customer);
    const number = problem === null ? numberOfCustomer(customer) : null;
    return sendPage(response, 200, pages.connectPage(customer, number, problem));
  }
  if (path !== '/whatsapp') throw new HttpError(404, 'not_found', 'There is no such page');
  const number = read('number');
  const account = accountOf(store.all(), number);
  const customer = digitsOf(read('customer'));
  const text = read('choice') || read('text');
  const since = account?.messages.length ?? 0;
  const problem =
    account === undefined
      ? `${number} is not connected`
      : await write(store, account, { number, customer, text, isChoice: form.has('choice') });
  if (problem !== null) return showConversation(response, account, number, customer, text, problem);
  await untilReply(account!, customer, since, deps.replyWaitMs ?? usualReplyWaitMs);
  redirect(
    response,
    `/whatsapp?number=${encodeURIComponent(number)}&customer=${encodeURIComponent(customer)}`,
  );
}

/** The account that has connected a number. */
const accountOf = (accounts: Account[], number: string): Account | undefined =>
  accounts.findLast(({ webhooks }) => webhooks.some((webhook) => webhook.number === number)) ??
  accounts.find(({ messages }) => messages.some((message) => message.number === number));

async function untilReply(
  account: Account,
  customer: string,
  since: number,
  limitMs: number,
): Promise<void> {
  const isAnswered = () =>
    account.messages
      .slice(since)
      .some((one) => one.direction === 'outbound' && one.customer === customer);
  for (let waitedMs = 0; waitedMs < limitMs && !isAnswered(); waitedMs += 50) await sleep(50);
}

function showOrder(
  store: KapsoDeps['store'],
  response: ServerResponse,
  token: string,
  problem: string | null,
): void {
  const found = findOrder(store, token);
  if (found === undefined)
    throw new HttpError(
      404,
      'not_found',
      'There is no such payment. It may be older than the ones that are kept.',
    );
  const { order } = found;
  sendPage(
    response,
    200,
    pages.orderPage(order, problem),
    pages.policyOf(new URL(order.urlReturn).origin),
  );
}

function showConversation(
  response: ServerResponse,
  account: Account | undefined,
  number: string,
  customer: string,
  draft = '',
  problem: string | null = null,
): void {
  const messages =
    account?.messages.filter((one) => one.number === number && one.customer === customer) ?? [];
  sendPage(response, 200, pages.conversationPage({ number, customer, messages }, draft, problem));
}

function sendPage(
  response: ServerResponse,
  status: number,
  html: string,
  policy = pages.policyOf(),
): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
    // A payment's address is its key, so other sites do not get it.
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(html);
}

const redirect = (response: ServerResponse, location: string): void =>
  void response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' }).end();

function sendAnswer(response: ServerResponse, { status, body }: ApiAnswer): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
