import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiAnswer, type ApiRequest, sendWebhook } from './provider';
import type { Account, Order, Store } from './store';

/**
 * The secret with which every account signs. It protects nothing: the stand-in only listens
 * on this machine.
 */
const secretKey = 'offline';
const required = [
  'commerceOrder',
  'subject',
  'amount',
  'email',
  'urlConfirmation',
  'urlReturn',
] as const;
/**
 * Maximum length of a field of an order. Longer ones would displace other entries of the account.
 */
const maxFieldChars = 2_048;
const refusal = (status: number, code: number, message: string): ApiAnswer => ({
  status,
  body: { code, message },
});

/** Answers a request to Flow's payment API (docs/reference/providers.md#flow-payments). */
export function answerFlow(
  store: Store,
  address: string,
  { method, path, query, body }: ApiRequest,
): ApiAnswer {
  const operation = /^\/payment\/(\w+)$/.exec(path)?.[1] ?? '';
  const isCreate = operation === 'create';
  const params = Object.fromEntries(isCreate ? new URLSearchParams(body) : query);
  if (!(isCreate ? method === 'POST' : method === 'GET' && Object.hasOwn(lookups, operation)))
    return refusal(404, 404, 'Not found');
  const account = store.find(params.apiKey ?? '');
  if (account === undefined) return refusal(401, 101, 'Invalid apiKey');
  if (!isSigned(params)) return refusal(401, 108, 'Invalid signature');
  if (isCreate) return create(store, account, address, params);
  const order = account.orders.find((one) => lookups[operation]!(one, params));
  return order === undefined
    ? refusal(400, 105, 'Transaction not found')
    : { status: 200, body: statusOf(order) };
}

const lookups: Record<string, (order: Order, params: Record<string, string>) => boolean> = {
  getStatus: ({ token }, params) => token === params.token,
  getStatusByFlowOrder: ({ flowOrder }, params) => String(flowOrder) === params.flowOrder,
  getStatusByCommerceId: ({ commerceOrder }, params) => commerceOrder === params.commerceId,
};

/** Flow's signature: HMAC-SHA256 of the keys in byte order, each followed by its value. */
function isSigned({ s = '', ...signed }: Record<string, string>): boolean {
  const names = Object.keys(signed).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const text = names.map((name) => name + signed[name]).join('');
  const expected = createHmac('sha256', secretKey).update(text).digest('hex');
  return s.length === expected.length && timingSafeEqual(Buffer.from(s), Buffer.from(expected));
}

function create(
  store: Store,
  account: Account,
  address: string,
  params: Record<string, string>,
): ApiAnswer {
  const missing = required.filter((name) => !params[name]);
  if (missing.length > 0) return refusal(400, 102, `Missing ${missing.join(', ')}`);
  const tooLong = [...required, 'optional'].filter(
    (name) => (params[name] ?? '').length > maxFieldChars,
  );
  if (tooLong.length > 0)
    return refusal(400, 102, `Longer than ${maxFieldChars} characters: ${tooLong.join(', ')}`);
  const { commerceOrder, subject, email, urlConfirmation, urlReturn } = params as Record<
    (typeof required)[number],
    string
  >;
  const amount = Number(params.amount);
  const currency = params.currency ?? 'CLP';
  if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email))
    return refusal(400, 1620, `The userEmail: ${email} is not valid.`);
  if (!/^[A-Z]{3}$/.test(currency))
    return refusal(400, 1990, `The currency ${currency} is not enabled`);
  if (!(amount > 0)) return refusal(400, 1901, 'The amount must be above 0');
  if (currency === 'CLP' && !Number.isInteger(amount))
    return refusal(400, 1902, 'Amount can not contain decimals');
  if (currency === 'CLP' && amount < 350)
    return refusal(400, 1901, 'The minimum amount is 350 CLP');
  if (![urlConfirmation, urlReturn].every(isWebAddress))
    return refusal(400, 102, 'urlConfirmation or urlReturn');
  const order: Order = {
    token: `${randomBytes(20).toString('hex').toUpperCase()}L`,
    // Above the numbers of real accounts, so that an account that is configured later has no order
    // with the same number.
    flowOrder: 9_000_000_000 + Math.floor(Math.random() * 999_999_999),
    status: 1,
    isNotified: false,
    commerceOrder,
    subject,
    amount,
    currency,
    email,
    urlConfirmation,
    urlReturn,
    optional: params.optional ?? null,
    at: new Date().toISOString(),
  };
  account.orders.push(order);
  store.save(account);
  return {
    status: 200,
    body: { token: order.token, url: `${address}/flow/pay`, flowOrder: order.flowOrder },
  };
}

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

const noData = {
  date: null,
  media: null,
  amount: null,
  currency: null,
  fee: null,
  balance: null,
  transferDate: null,
};
const dateOf = (at: string): string => at.slice(0, 19).replace('T', ' ');

function statusOf({
  flowOrder,
  commerceOrder,
  status,
  subject,
  currency,
  amount,
  email,
  optional,
  at,
}: Order) {
  const paid = {
    ...noData,
    date: dateOf(at),
    media: 'Stand-in',
    amount,
    currency,
    fee: 0,
    balance: amount,
  };
  return {
    flowOrder,
    commerceOrder,
    requestDate: dateOf(at),
    status,
    subject,
    currency,
    amount,
    payer: email,
    optional,
    pending_info: { media: null, date: null },
    paymentData: status === 2 ? paid : noData,
    merchantId: null,
  };
}

/** Finds the order of a payment page. The token is its only key, as at Flow. */
export function findOrder(
  store: Store,
  token: string,
): { account: Account; order: Order } | undefined {
  for (const account of store.all()) {
    const order = account.orders.find((one) => one.token === token);
    if (order !== undefined) return { account, order };
  }
  return undefined;
}

/**
 * Pays or refuses an order and sends Flow's callback, which contains the token only. The first
 * choice is final: another press only repeats a callback that was not accepted. Returns the problem
 * of the callback, or null.
 */
export async function settle(
  store: Store,
  token: string,
  choice: 'pay' | 'refuse',
): Promise<string | null> {
  const { account, order } = findOrder(store, token)!;
  if (order.status === 1) {
    order.status = choice === 'pay' ? 2 : 3;
    store.save(account);
  } else if (order.isNotified) return null;
  const problem = await sendWebhook(order.urlConfirmation, {
    body: new URLSearchParams({ token }),
  });
  order.isNotified = problem === null;
  store.save(account);
  return problem;
}
