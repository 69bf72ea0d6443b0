import { chatOperations } from './chat';
import { dataOperations } from './data';
import { manageOperations } from './manage/manage';
import { executorOperations, gatewayOperations, internalOperations } from './service';
import { syncOperations } from './sync';
import { toolSecretOperations } from './tool-secrets';
import { utilityOperations } from './utilities';
import { webhookOperations } from './webhooks';
import { widgetOperations } from './widget';

/**
 * Every endpoint that clients and providers may call, by `operationId`, in the order of the
 * OpenAPI document.
 */
export const operations = {
  ...chatOperations,
  ...dataOperations,
  ...utilityOperations,
  ...syncOperations,
  ...toolSecretOperations,
  ...manageOperations,
  ...widgetOperations,
  ...webhookOperations,
  ...executorOperations,
  ...gatewayOperations,
} as const;

/**
 * The endpoints by area, as the services serve them, including the internal ones that the
 * document leaves out.
 */
export const operationsOf = {
  chat: chatOperations,
  data: dataOperations,
  utilities: utilityOperations,
  sync: syncOperations,
  toolSecrets: toolSecretOperations,
  manage: manageOperations,
  widget: widgetOperations,
  webhooks: webhookOperations,
  executor: executorOperations,
  internal: internalOperations,
} as const;
