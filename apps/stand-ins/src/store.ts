import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** An order of the stand-in for Flow. */
export interface Order {
  token: string;
  flowOrder: number;
  commerceOrder: string;
  /** Flow's status: 1 pending, 2 paid, 3 rejected. */
  status: 1 | 2 | 3;
  subject: string;
  amount: number;
  currency: string;
  email: string;
  urlConfirmation: string;
  urlReturn: string;
  optional: string | null;
  at: string;
  /** Whether the receiver has accepted the callback about the status. */
  isNotified: boolean;
}

/** A WhatsApp message between a number of the business and a customer. */
export interface Message {
  id: string;
  /** Id of the number of the business. */
  number: string;
  /** The customer's phone number, in digits, or the scoped id. */
  customer: string;
  direction: 'inbound' | 'outbound';
  type: string;
  text: string;
  /** Titles of the buttons or rows that the customer can choose. */
  choices: string[];
  /** `biz_opaque_callback_data` of the request. */
  reference: string | null;
  at: string;
}

export interface Webhook {
  id: string;
  number: string;
  url: string;
  secretKey: string;
  events: string[];
}

export interface Email {
  id: string;
  key: string;
  /** The request as it was received. */
  request: Record<string, unknown>;
  at: string;
}

/**
 * What the providers keep for one account: the development environment of an organization. Lists
 * begin with the oldest.
 */
export interface Account {
  readonly apiKey: string;
  orders: Order[];
  messages: Message[];
  webhooks: Webhook[];
  emails: Email[];
}

export interface Store {
  /** The account with a key; undefined when it cannot be the key of one. */
  find(apiKey: string): Account | undefined;
  all(): Account[];
  /** Writes an account to its file, without the oldest entries of lists that are too long. */
  save(account: Account): void;
}

/** The newest entries that are kept of each list of an account. */
export const kept = { orders: 200, messages: 500, webhooks: 50, emails: 100 } as const;
/**
 * Maximum size of an account's file. The oldest entries of the largest list are
 * removed until it fits.
 */
const maxBytes = 4 * 1024 * 1024;
const maxAccounts = 1_000;

/**
 * Opens the accounts in a folder: one file for each, which is read at the start and replaced
 * with each change.
 */
export function openStore(folder: string): Store {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const accounts = new Map<string, Account>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const apiKey = basename(file, '.json');
    accounts.set(apiKey, { ...emptyAccount(apiKey), ...read(join(folder, file)) });
  }
  return {
    find(apiKey) {
      const known = accounts.get(apiKey);
      if (
        known !== undefined ||
        !/^offline-[\w-]{1,100}$/.test(apiKey) ||
        accounts.size >= maxAccounts
      )
        return known;
      const account = emptyAccount(apiKey);
      accounts.set(apiKey, account);
      return account;
    },
    all: () => [...accounts.values()],
    save(account) {
      for (const name of Object.keys(kept) as (keyof typeof kept)[]) {
        const list: unknown[] = account[name];
        list.splice(0, list.length - kept[name]);
      }
      let text = JSON.stringify(account);
      while (Buffer.byteLength(text) > maxBytes) {
        const list = largest([account.orders, account.messages, account.webhooks, account.emails]);
        list.splice(0, Math.max(1, Math.floor(list.length / 4)));
        text = JSON.stringify(account);
      }
      const file = join(folder, `${account.apiKey}.json`);
      writeFileSync(`${file}.new`, text, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
  };
}

function largest(lists: unknown[][]): unknown[] {
  const sizes = lists.map((list) => JSON.stringify(list).length);
  return lists[sizes.indexOf(Math.max(...sizes))]!;
}

const emptyAccount = (apiKey: string): Account => ({
  apiKey,
  orders: [],
  messages: [],
  webhooks: [],
  emails: [],
});

function read(file: string): Partial<Account> {
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Account>) : {};
  } catch {
    return {};
  }
}
