import { createHmac, randomBytes } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An order of Flow. Tests set its `status`: 1 pending, 2 paid, 3 rejected, 4 cancelled. */
export interface FlowServerOrder {
  token: string;
  flowOrder: number;
  commerceOrder: string;
  status: 1 | 2 | 3 | 4;
  subject: string;
  amount: number;
  currency: string;
  email: string;
  urlConfirmation: string;
  urlReturn: string;
  optional: string | null;
  apiKey: string;
}

/** A fault of an operation. `after`: the request takes effect, and only its response is lost. */
export type FlowServerFault =
  | { kind: 'error'; status: number; body: unknown }
  | { kind: 'slow'; ms: number }
  | { kind: 'cut'; after?: boolean }
  | { kind: 'overload'; after?: boolean };

type Operation = 'create' | 'getStatus' | 'getStatusByFlowOrder' | 'getStatusByCommerceId';

export interface FlowServer {
  /** The value of an account's `apiUrl`. */
  url: string;
  orders: FlowServerOrder[];
  /** Requests with a valid signature, in order. */
  requests: { operation: Operation; params: Record<string, string> }[];
  /** Violations of the protocol: invalid signatures, missing parameters, wrong encodings. */
  problems: string[];
  addAccount(account: { apiKey: string; secretKey: string }): void;
  /** Sets the fault of an operation, for the next `times` calls (default: all). null removes it. */
  setFault(
    operation: Operation,
    fault: FlowServerFault | null,
    options?: { times?: number; apiKey?: string },
  ): void;
  /** Returns the order of a payment link. */
  orderOf(link: string): FlowServerOrder;
  /** Calls `urlConfirmation` as Flow does. Returns the status of the response. */
  notify(order: FlowServerOrder): Promise<number>;
  stop(): Promise<void>;
}

const required = [
  'apiKey',
  'commerceOrder',
  'subject',
  'amount',
  'email',
  'urlConfirmation',
  'urlReturn',
  's',
];

/**
 * Starts a stand-in for Flow's payment API (docs/reference/providers.md#flow-payments) that
 * verifies signatures.
 */
export async function startFlowServer(
  ...accounts: { apiKey: string; secretKey: string }[]
): Promise<FlowServer> {
  const secretOf = new Map(accounts.map(({ apiKey, secretKey }) => [apiKey, secretKey]));
  const orders: FlowServerOrder[] = [];
  const byToken = new Map<string, FlowServerOrder>();
  const requests: FlowServer['requests'] = [];
  const problems: string[] = [];
  const faults: { operation: Operation; fault: FlowServerFault; left: number; apiKey?: string }[] =
    [];
  let lastFlowOrder = 8_765_400;

  const server = createServer((request, response) => {
    void handle(request, response).catch((error: unknown) => {
      problems.push(String(error));
      response.destroy();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://flow');
    const operation = /^\/api\/payment\/(\w+)$/.exec(url.pathname)?.[1] as Operation | undefined;
    const isCreate = operation === 'create';
    if (operation === undefined || request.method !== (isCreate ? 'POST' : 'GET')) {
      return answer(response, 404, { code: 404, message: 'Not found' });
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (
      isCreate &&
      request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true
    ) {
      problems.push(`create came as ${request.headers['content-type']}`);
    }
    const params = Object.fromEntries(isCreate ? new URLSearchParams(body) : url.searchParams);
    const refused = check(operation, params);
    if (refused !== null) return answer(response, 401, refused);
    requests.push({ operation, params });
    const fault = takeFault(operation, params.apiKey!);
    if (fault?.kind === 'slow') await sleep(fault.ms, undefined, { ref: false });
    if (fault?.kind === 'error') return answer(response, fault.status, fault.body);
    if ((fault?.kind === 'cut' || fault?.kind === 'overload') && fault.after !== true)
      return answerFault(response, fault);
    const [status, result] = perform(operation, params);
    if (fault?.kind === 'cut' || fault?.kind === 'overload') return answerFault(response, fault);
    answer(response, status, result);
  }

  function check(operation: Operation, params: Record<string, string>): unknown {
    const { s, ...signed } = params;
    const secret = secretOf.get(params.apiKey ?? '');
    if (secret === undefined) return { code: 101, message: 'Invalid apiKey' };
    const names = Object.keys(signed).sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    );
    const text = names.map((name) => name + signed[name]).join('');
    if (createHmac('sha256', secret).update(text).digest('hex') !== s) {
      problems.push(`${operation} has a wrong signature`);
      return { code: 108, message: 'Invalid signature' };
    }
    for (const [name, value] of Object.entries(params)) {
      if (value === 'undefined' || value === 'null')
        problems.push(`${operation} sends ${name}=${value}`);
    }
    if (operation !== 'create') return null;
    const missing = required.filter((name) => !params[name]);
    if (missing.length === 0) return null;
    problems.push(`create lacks ${missing.join(', ')}`);
    return { code: 102, message: `Missing ${missing.join(', ')}` };
  }

  function takeFault(operation: Operation, apiKey: string): FlowServerFault | undefined {
    const found = faults.find(
      (one) =>
        one.operation === operation &&
        one.left > 0 &&
        (one.apiKey === undefined || one.apiKey === apiKey),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    return found.fault;
  }

  function perform(
    operation: Operation,
    params: Record<string, string>,
  ): [status: number, body: unknown] {
    if (operation === 'create') return create(params);
    const found = orders.find(
      (order) =>
        order.apiKey === params.apiKey &&
        (operation === 'getStatus'
          ? order.token === params.token
          : operation === 'getStatusByFlowOrder'
            ? String(order.flowOrder) === params.flowOrder
            : order.commerceOrder === params.commerceId),
    );
    return found === undefined
      ? [400, { code: 105, message: 'Transaction not found' }]
      : [200, statusOf(found)];
  }

  function create(params: Record<string, string>): [status: number, body: unknown] {
    const amount = Number(params.amount);
    const currency = params.currency ?? 'CLP';
    if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(params.email!)) {
      return [400, { code: 1620, message: `The userEmail: ${params.email} is not valid.` }];
    }
    if (currency === 'CLP' && !Number.isInteger(amount))
      return [400, { code: 1902, message: 'Amount can not contain decimals' }];
    if (currency === 'CLP' && amount < 350)
      return [400, { code: 1901, message: 'The minimum amount is 350 CLP' }];
    const order: FlowServerOrder = {
      token: `${randomBytes(20).toString('hex').toUpperCase()}L`,
      flowOrder: (lastFlowOrder += 1),
      commerceOrder: params.commerceOrder!,
      status: 1,
      subject: params.subject!,
      amount,
      currency,
      email: params.email!,
      urlConfirmation: params.urlConfirmation!,
      urlReturn: params.urlReturn!,
      optional: params.optional ?? null,
      apiKey: params.apiKey!,
    };
    orders.push(order);
    byToken.set(order.token, order);
    return [
      200,
      { token: order.token, url: `${base()}/app/web/pay.php`, flowOrder: order.flowOrder },
    ];
  }

  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `${base()}/api`,
    orders,
    requests,
    problems,
    addAccount: ({ apiKey, secretKey }) => void secretOf.set(apiKey, secretKey),
    setFault(operation, fault, { times = Infinity, apiKey } = {}) {
      const others = faults.filter((one) => one.operation !== operation || one.apiKey !== apiKey);
      faults.splice(0, faults.length, ...others);
      if (fault !== null) faults.push({ operation, fault, left: times, apiKey });
    },
    orderOf(link) {
      const order = byToken.get(new URL(link).searchParams.get('token') ?? '');
      if (order === undefined) throw new Error(`No order has the link ${link}`);
      return order;
    },
    async notify({ urlConfirmation, token }) {
      const response = await fetch(urlConfirmation, {
        method: 'POST',
        body: new URLSearchParams({ token }),
      });
      await response.arrayBuffer();
      return response.status;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerFault(response: ServerResponse, { kind }: FlowServerFault): void {
  if (kind === 'cut') response.destroy();
  else answer(response, 503, '<html>Service unavailable</html>');
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const noData = {
  date: null,
  media: null,
  amount: null,
  currency: null,
  fee: null,
  balance: null,
  transferDate: null,
};

function statusOf({
  flowOrder,
  commerceOrder,
  status,
  subject,
  currency,
  amount,
  email,
  optional,
}: FlowServerOrder) {
  const paid = {
    ...noData,
    date: '2026-09-01 08:06:11',
    media: 'Webpay',
    amount,
    currency,
    fee: 0,
    balance: amount,
  };
  return {
    flowOrder,
    commerceOrder,
    requestDate: '2026-09-01 08:00:00',
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
