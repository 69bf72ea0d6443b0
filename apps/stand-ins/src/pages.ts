import { createHash } from 'node:crypto';
import { textOf } from './provider';
import type { Account, Email, Message, Order } from './store';
import { style } from './style';

/** A text as HTML. Texts of customers, agents and orders are never trusted. */
const escape = (text: unknown): string =>
  String(text ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Content-Security-Policy of a page: no scripts, nothing from elsewhere. `returnTo`: another origin
 * to which a form leads.
 */
export const policyOf = (returnTo = ''): string =>
  `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-src 'self'; form-action 'self' ${returnTo}; base-uri 'none'; frame-ancestors 'none'`;

const page = (title: string, body: string, { isNarrow = false } = {}): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<style>${style}</style>
</head>
<body>
<header><b>Development.</b> Nothing here is real: no money moves, and no message leaves this machine. <a href="/">Overview</a></header>
<main${isNarrow ? ' class="narrow"' : ''}>
${body}
</main>
</body>
</html>
`;

/** An amount in its currency. */
const money = ({ amount, currency }: Order): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay: 'code' }).format(
    amount,
  );

const timeOf = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`;
const stateOf = ({ status }: Order): string =>
  status === 1
    ? '<span class="wait">◦ Not paid</span>'
    : status === 2
      ? '<span class="good">✓ Paid</span>'
      : '<span class="bad">✕ Refused</span>';

export const messagePage = (title: string, text: string): string =>
  page(title, `<h1>${escape(title)}</h1><p>${escape(text)}</p>`, { isNarrow: true });

const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`;

/**
 * The payment page: Pay and Refuse, or what was chosen. `problem`: why the callback
 * was not accepted.
 */
export function orderPage(order: Order, problem: string | null): string {
  const { subject, email, commerceOrder, flowOrder, status, isNotified, token, urlReturn } = order;
  const press = (choice: string, label: string, kind = '') =>
    `<button${kind} name="choice" value="${choice}">${label}</button>`;
  const form = (buttons: string) =>
    `<form method="post" action="/flow/pay"><div class="row">${hidden('token', token)}${buttons}</div></form>`;
  const choice = status === 3 ? 'refuse' : 'pay';
  const outcome =
    status === 1
      ? form(press('pay', 'Pay', ' class="main"') + press('refuse', 'Refuse'))
      : isNotified
        ? `<p>Parley has received the result. ${URL.parse(urlReturn)?.pathname === '/' ? 'You can close this page.' : ''}</p>`
        : `<p class="bad">Parley has not received the result: ${escape(problem ?? 'the callback was interrupted')}</p>${form(press(choice, 'Send it again', ' class="main"'))}`;
  const hasReturn = status !== 1 && URL.parse(urlReturn)?.pathname !== '/';
  const back = `<form method="post" action="${escape(urlReturn)}">${hidden('token', token)}<button>Return to the shop</button></form>`;
  return page(
    subject,
    `<h1>${escape(subject)}</h1>
<p class="amount">${escape(money(order))}</p>
<dl><dt>Status</dt><dd>${stateOf(order)}</dd><dt>Payer</dt><dd>${escape(email)}</dd><dt>Order</dt><dd>${escape(commerceOrder)}</dd><dt>Flow order</dt><dd>${flowOrder}</dd></dl>
${outcome}${hasReturn ? back : ''}
<p class="quiet">This page simulates Flow. No money moves with either button.</p>`,
    { isNarrow: true },
  );
}

/**
 * The setup page of a number, at which its owner connects it. `number`: the number
 * that was connected.
 */
export const connectPage = (
  customer: string,
  number: string | null,
  problem: string | null,
): string =>
  page(
    'Connect a number',
    `<h1>Connect a WhatsApp number</h1>
${problem === null ? '' : `<p class="bad">Parley did not accept the number: ${escape(problem)}</p>`}
${
  number === null
    ? `<p>Kapso shows this page to the owner of a number. Here it connects a simulated number.</p>
<form method="post" action="/connect">${hidden('customer', customer)}<button class="main">Connect a simulated number</button></form>`
    : `<p><span class="good">✓ Connected</span> The number is +${escape(number)}.</p><p><a href="/whatsapp?number=${escape(number)}">Write to it as a customer</a></p>`
}`,
    { isNarrow: true },
  );

/** Links in a text; the rest is escaped. */
const linked = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<>"']+[^\s<>"'.,;:!?)\]*_])/)
    .map((part, at) =>
      at % 2 === 1
        ? `<a href="${escape(part)}" rel="noreferrer">${escape(part)}</a>`
        : escape(part),
    )
    .join('');

export interface Conversation {
  number: string;
  customer: string;
  messages: Message[];
}

/** A conversation as the customer sees it, with a form to write. */
export function conversationPage(
  { number, customer, messages }: Conversation,
  draft: string,
  problem: string | null,
) {
  const to = hidden('number', number);
  const choose = (title: string) =>
    `<form method="post" action="/whatsapp">${to}${hidden('customer', customer)}${hidden('choice', title)}<button>${escape(title)}</button></form>`;
  const items = messages.map(
    ({ direction, text, choices, at }) =>
      `<li class="${direction}">${linked(text)}${choices.map(choose).join('')}\n<span class="quiet">${direction === 'inbound' ? 'Customer' : 'Agent'}, ${timeOf(at)}</span></li>`,
  );
  return page(
    `WhatsApp ${number}`,
    `<h1>WhatsApp +${escape(number)}</h1>
${items.length === 0 ? '<p class="quiet">No messages yet.</p>' : `<ol>${items.join('\n')}</ol>`}
${problem === null ? '' : `<p class="bad">${escape(problem)}</p>`}
<form method="post" action="/whatsapp"><div class="row">${to}
<textarea name="text" aria-label="Message" placeholder="Message to the agent" maxlength="4096" required>${escape(draft)}</textarea>
<label>Customer's number<input name="customer" inputmode="tel" value="${escape(customer)}" required></label>
<button class="main">Send</button></div></form>
<p><a href="/whatsapp?number=${escape(number)}&amp;customer=${escape(customer)}">Show new messages</a></p>`,
  );
}

const table = (heads: string[], rows: string[][], none: string): string =>
  rows.length === 0
    ? `<p class="quiet">${none}</p>`
    : `<table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('')}</table>`;

const listed = 20;
const newest = <T extends { at: string }>(items: T[]): T[] =>
  items.sort((a, b) => b.at.localeCompare(a.at)).slice(0, listed);

/** Everything that was sent recently, of all accounts of this machine. */
export function overviewPage(accounts: Account[]): string {
  const conversations = new Map<string, Message>();
  for (const message of accounts.flatMap(({ messages }) => messages))
    conversations.set(`${message.number} ${message.customer}`, message);
  const numbers = [
    ...new Set(accounts.flatMap(({ webhooks }) => webhooks.map(({ number }) => number))),
  ];
  return page(
    'Stand-ins',
    `<h1>Payments, messages and e-mails of this machine</h1>
<h2>WhatsApp</h2>
${numbers.map((number) => `<p><a href="/whatsapp?number=${escape(number)}">Write to +${escape(number)} as a customer</a></p>`).join('')}
${table(
  ['Conversation', 'Last message', 'Time'],
  newest([...conversations.values()]).map(({ number, customer, text, at }) => [
    `<a href="/whatsapp?number=${escape(number)}&amp;customer=${escape(customer)}">${escape(customer)}</a> with +${escape(number)}`,
    escape(text.slice(0, 120)),
    timeOf(at),
  ]),
  numbers.length === 0
    ? 'No number is connected. Connect one with: parley channels connect --agent AGENT'
    : 'No messages yet.',
)}
<h2>Payments</h2>
${table(
  ['Payment', 'Amount', 'Status', 'Time'],
  newest(accounts.flatMap(({ orders }) => orders)).map((order) => [
    `<a href="/flow/pay?token=${escape(order.token)}">${escape(order.subject)}</a>`,
    escape(money(order)),
    stateOf(order),
    timeOf(order.at),
  ]),
  'No payment link yet. An agent makes one with the tool payment.create.',
)}
<h2>E-mails</h2>
${table(
  ['Subject', 'To', 'Time'],
  newest(accounts.flatMap(({ emails }) => emails)).map(({ id, request, at }) => [
    `<a href="/emails/${id}">${escape(request.subject)}</a>`,
    escape([request.to].flat().join(', ')),
    timeOf(at),
  ]),
  'No e-mail yet. An agent or trigger sends one with the tool email.send.',
)}`,
  );
}

/** An e-mail. Its HTML is shown in a frame without scripts and without anything from elsewhere. */
export const emailPage = ({ id, request, at }: Email): string =>
  page(
    String(request.subject),
    `<h1>${escape(request.subject)}</h1>
<dl><dt>From</dt><dd>${escape(request.from)}</dd><dt>To</dt><dd>${escape([request.to].flat().join(', '))}</dd><dt>Time</dt><dd>${timeOf(at)}</dd></dl>
${request.html ? `<iframe sandbox title="E-mail" src="/emails/${id}/html"></iframe>` : ''}
${request.text ? `<pre>${escape(textOf(request.text))}</pre>` : ''}`,
  );
