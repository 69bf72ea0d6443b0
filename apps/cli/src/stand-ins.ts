import { objectAt, textAt } from '@parley/contracts';
import { standInAccount } from '@parley/db';
import { callHttp } from '@parley/outbound';
import { Failure } from './failure';
import { findSecret } from './secrets';

/** A message of the simulated WhatsApp, as the stand-ins of `npm start` keep it. */
export interface SimulatedMessage {
  /** The number of the business. */
  number: string;
  /** Digits of the customer's number. */
  customer: string;
  /** `inbound`: written by the customer. */
  direction: 'inbound' | 'outbound';
  text: string;
  at: string;
}

export interface SimulatedEmail {
  id: string;
  at: string;
  from: string;
  to: string | string[];
  subject: string;
  text?: string;
  html?: string;
}

/**
 * A client of the stand-ins of development (docs/development.md), with the messages and e-mails of
 * an organization.
 */
export function createStandIns({ id }: { id: string }) {
  const url = findSecret('STAND_INS_URL');
  const account = standInAccount(url, 'kapso', { organizationId: id, environment: 'development' });
  if (url === undefined || account === null)
    throw new Failure(
      'This needs the simulated providers of npm start. Start it in a checkout of Parley',
    );
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const headers = { 'X-API-Key': account.apiKey };
    const answer = await callHttp({
      method,
      url: `${url}/api/${path}`,
      headers,
      body,
      timeoutMs: 20_000,
    });
    if (answer.kind !== 'answered')
      throw new Failure(`Cannot connect to the simulated providers: ${answer.message}`);
    if (answer.status === 200) return objectAt(answer.body);
    throw new Failure(textAt(objectAt(answer.body).error) ?? `${url} answered ${answer.status}`);
  };
  return {
    apiUrl: account.apiUrl,
    messages: async () => (await call('GET', 'messages')).messages as unknown as SimulatedMessage[],
    emails: async () => (await call('GET', 'emails')).emails as unknown as SimulatedEmail[],
    /** Sends a message to the webhook of a number as WhatsApp would. */
    write: async (message: { number: string; customer: string; text: string }): Promise<void> =>
      void (await call('POST', 'messages', message)),
  };
}

/** The customer whom the commands play when `--from` names no other. */
const usualCustomer = '56911111111';

export const customerOf = (from: string | undefined): string =>
  (from ?? usualCustomer).replace(/\D/g, '');
