import { answerFlow } from './flow';
import { type KapsoDeps, answerKapso, writeAsCustomer } from './kapso';
import { type ApiAnswer, type ApiRequest, fieldsOf, textOf } from './provider';
import { answerResend } from './resend';
import type { Account, Email } from './store';

const paths = /^\/(flow|kapso|resend|api)(\/(?:payment|meta|platform|emails|domains|messages)\b.*)/;

/** Whether a path belongs to the API of a provider or of the command line, and not to a page. */
export const isApiPath = (path: string): boolean => paths.test(path);

/** Answers a request to the API of a provider, or of the command line. Null for other paths. */
export async function answerApi(deps: KapsoDeps, request: ApiRequest): Promise<ApiAnswer | null> {
  const [, provider, path] = paths.exec(request.path) ?? [];
  if (path === undefined) return null;
  const call = { ...request, path };
  if (provider === 'flow') return answerFlow(deps.store, deps.address, call);
  if (provider === 'kapso') return answerKapso(deps, call);
  if (provider === 'resend') return answerResend(deps.store, call);
  const account = deps.store.find(String(request.headers['x-api-key']));
  if (account === undefined) return { status: 401, body: { error: 'Unknown account' } };
  return answerCommand(deps, account, call);
}

/**
 * Answers the commands `parley whatsapp` and `parley emails show`, with the messages of
 * their account only.
 */
async function answerCommand(
  { store }: KapsoDeps,
  account: Account,
  { method, path, body }: ApiRequest,
): Promise<ApiAnswer> {
  const call = `${method} ${path}`;
  if (call === 'GET /messages') return { status: 200, body: { messages: account.messages } };
  if (call === 'GET /emails') return { status: 200, body: { emails: account.emails.map(toEmail) } };
  if (call !== 'POST /messages') return { status: 404, body: { error: 'Not found' } };
  const { number, customer, text } = fieldsOf(body);
  const message = {
    number: textOf(number),
    customer: digitsOf(textOf(customer)),
    text: textOf(text),
    isChoice: false,
  };
  const problem = await write(store, account, message);
  return problem === null ? { status: 200, body: {} } : { status: 400, body: { error: problem } };
}

const toEmail = ({ id, request, at }: Email) => ({ id, at, ...request });

export async function write(
  store: KapsoDeps['store'],
  account: Account,
  message: Parameters<typeof writeAsCustomer>[2],
): Promise<string | null> {
  if (!/^\d{6,15}$/.test(message.customer)) return 'The number of the customer has 6 to 15 digits';
  if (message.text.trim() === '' || message.text.length > 4096)
    return 'A message has 1 to 4,096 characters';
  return (await writeAsCustomer(store, account, message)).problem;
}

export const digitsOf = (text: string): string => text.replace(/\D/g, '');
