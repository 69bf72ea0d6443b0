import { chatOperations } from './chat';
import { dataOperations } from './data';
import { doorOperations, executorOperations } from './service';
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
  ...doorOperations,
} as const;
