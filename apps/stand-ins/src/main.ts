import {
  createLogger,
  createMetrics,
  loadConfig,
  runService,
  startProcess,
  urlVariable,
} from '@parley/service';
import { serviceVariables } from '@parley/service';
import { z } from 'zod';
import { createStandIns } from './app';
import { openStore } from './store';

/**
 * The variables are set by `npm start`. They are not in a config.ts, because the service
 * is never deployed.
 */
const variables = {
  ...serviceVariables(4006),
  STAND_INS_URL: urlVariable().meta({
    description: 'Address under which browsers and services reach this service.',
  }),
  STAND_INS_FOLDER: z.string().meta({ description: 'Folder for orders, messages and e-mails.' }),
  GATEWAY_URL: urlVariable().meta({ description: 'Address of the gateway.' }),
  MESSAGING_WEBHOOK_SECRET: z
    .string()
    .meta({ description: 'Secret of the project webhook of Kapso.' }),
};

startProcess(async () => {
  const config = loadConfig(variables, process.env);
  if (config.NODE_ENV === 'production')
    throw new Error(
      'The stand-ins only run in development: their payments move no money, no message is delivered.',
    );
  const log = createLogger({ service: 'stand-ins', level: config.LOG_LEVEL });
  const metrics = createMetrics('stand-ins');
  const app = createStandIns({
    store: openStore(config.STAND_INS_FOLDER),
    address: config.STAND_INS_URL,
    gatewayUrl: config.GATEWAY_URL,
    // The first of several secrets is used for signing.
    projectSecret: config.MESSAGING_WEBHOOK_SECRET.split(/[\s,]+/)[0]!,
    log,
  });
  await runService({ config, log, metrics, app, checks: {}, closing: [] });
});
