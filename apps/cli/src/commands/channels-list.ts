import { type KeyOptions, printList } from '../manage';

/**
 * `parley channels list`: the connections of an environment, each with the agent or
 * router that answers.
 */
export const runChannelsList = (options: KeyOptions): Promise<void> =>
  printList(options, {
    items: 'connections',
    read: (manage) => async () => ({
      ...(await manage.listChannels()),
      cursor: '',
      hasMore: false,
    }),
    columns: {
      CONNECTION: ({ id }) => id,
      STATE: ({ status }) => status,
      NUMBER: ({ phoneNumber }) => phoneNumber ?? '-',
      'NUMBER ID': ({ phoneNumberId }) => phoneNumberId ?? '-',
      CUSTOMER: ({ customerId }) => customerId ?? '-',
      'ANSWERED BY': ({ agent, router }) => agent ?? router ?? '-',
      'CONTACT TYPE': ({ contactType }) => contactType ?? '-',
      '': ({ webhookProblem }) => (webhookProblem ? 'webhook not registered' : ''),
    },
  });
