import { usageFailure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { note, print, printJson } from '../terminal';

export interface ChannelsConnectOptions extends KeyOptions {
  agent?: string;
  router?: string;
  /**
   * Entity type of the contacts; "" for none. When absent, an existing connection keeps its type.
   */
  contactType?: string;
  customer?: string;
  phoneNumberId?: string;
  name?: string;
}

/**
 * `parley channels connect`: connects a number, or prints the link at which a person connects one.
 */
export async function runChannelsConnect({
  customer,
  contactType,
  json,
  ...options
}: ChannelsConnectOptions) {
  const { env, org, ...wanted } = options;
  if ((wanted.agent === undefined) === (wanted.router === undefined))
    throw usageFailure('Choose who answers with either --agent or --router');
  const made = await withManage({ env, org }, (manage) =>
    manage.connectChannel({
      ...wanted,
      customerId: customer,
      contactType: contactType === '' ? null : contactType,
    }),
  );
  if (json) return printJson(made);
  const { id, customerId, phoneNumber } = made.channel;
  note(`Connection ${id} of customer ${customerId}`);
  print(made.setupLink ?? `Number ${phoneNumber} is connected.`);
}
