import { chatOperations } from './chat';
import { dataOperations } from './data';
import { executorOperations, gatewayOperations, internalOperations } from './service';
import { syncOperations } from './sync';
import { utilityOperations } from './utilities';
import { webhookOperations } from './webhooks';

/** Every endpoint that a client or a provider may call, by its `operationId`; the order is that of the document. */
export const operations = {
  ...chatOperations,
  ...dataOperations,
  ...utilityOperations,
  ...syncOperations,
  ...webhookOperations,
  ...executorOperations,
  ...gatewayOperations,
} as const;

/** The same by area, as the services serve them, and those of services among themselves. */
export const operationsOf = {
  chat: chatOperations,
  data: dataOperations,
  utilities: utilityOperations,
  sync: syncOperations,
  webhooks: webhookOperations,
  executor: executorOperations,
  internal: internalOperations,
} as const;
