import { chatOperations } from './chat';
import { dataOperations } from './data';
import { executorOperations, gatewayOperations, internalOperations } from './service';
import { syncOperations } from './sync';
import { toolSecretOperations } from './tool-secrets';
import { utilityOperations } from './utilities';
import { webhookOperations } from './webhooks';

/** Every endpoint that clients and providers may call, by `operationId`, in the order of the OpenAPI document. */
export const operations = {
  ...chatOperations,
  ...dataOperations,
  ...utilityOperations,
  ...syncOperations,
  ...toolSecretOperations,
  ...webhookOperations,
  ...executorOperations,
  ...gatewayOperations,
} as const;

/** The endpoints by area, as the services serve them, including the internal ones that the document leaves out. */
export const operationsOf = {
  chat: chatOperations,
  data: dataOperations,
  utilities: utilityOperations,
  sync: syncOperations,
  toolSecrets: toolSecretOperations,
  webhooks: webhookOperations,
  executor: executorOperations,
  internal: internalOperations,
} as const;
