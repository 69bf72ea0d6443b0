import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * The services of the stack. `port` is added to the gateway's port. Services that are not `trusted`
 * run untrusted code or are reachable from outside, and get only the secrets listed here.
 */
const services = [
  { name: 'data', port: 1, trusted: true },
  { name: 'chat', port: 2, trusted: true },
  { name: 'webhook-ingest', port: 3, trusted: true },
  { name: 'tool-executor', port: 4, trusted: false, secrets: ['EXECUTOR_TOKEN'] },
  { name: 'worker', port: 5, trusted: true },
  { name: 'manage', port: 7, trusted: true },
  { name: 'gateway', port: 0, trusted: false, secrets: [] },
  // Simulates Flow, Kapso and Resend, with the secret of Kapso's project webhook. It does not
  // run in production.
  { name: 'stand-ins', port: 6, trusted: false, secrets: ['MESSAGING_WEBHOOK_SECRET'] },
];
const isProduction = () => process.env.NODE_ENV === 'production';

/**
 * On this machine one developer uses one key, and scripts send many requests. Defaults:
 * docs/configuration.md.
 */
const localLimits = {
  RATE_LIMIT_PER_KEY: '6000',
  RATE_LIMIT_PER_ORGANIZATION: '20000',
  CHAT_RATE_LIMIT_PER_KEY: '6000',
  CHAT_RATE_LIMIT_PER_ORGANIZATION: '20000',
  MANAGE_RATE_LIMIT_PER_KEY: '6000',
  MANAGE_RATE_LIMIT_PER_ORGANIZATION: '20000',
};

const internalPortOffset = 100;
const secretName =
  /(^|_)(KEY|KEYS|SECRET|SECRETS|TOKEN|PASSWORD|CREDENTIALS)(_FILE)?$|^(READ_)?(DATABASE|REDIS)_URL(_FILE)?$|^SECRETS_KEY/;
/** Variables of npm and of this process, and variables that differ between services. */
const notPassedOn = /^(npm_|INIT_CWD$|PORT$|INTERNAL_PORT$|HOST$|NODE_CHANNEL_|NODE_ENV$)/i;

/**
 * The address of the stand-ins; null in production. `localhost`, because the addresses of payment
 * pages contain it.
 */
export const standInsUrl = (gatewayPort) =>
  isProduction() ? null : process.env.STAND_INS_URL || `http://localhost:${gatewayPort + 6}`;

/** @param {number} gatewayPort */
export function plannedServices(gatewayPort) {
  return services
    .filter(({ name }) => existsSync(join(root, 'apps', name, 'src', 'main.ts')))
    .filter(({ name }) => name !== 'stand-ins' || !isProduction())
    .map((service) => ({
      ...service,
      port: gatewayPort + service.port,
      internalPort: gatewayPort + service.port + internalPortOffset,
    }));
}

/**
 * The environment of one service.
 * @param {{ name: string, port: number, internalPort: number, trusted: boolean, secrets?:
 *   string[] }} service
 * @param {Record<string, string>} shared DATABASE_URL, REDIS_URL, SECRETS_KEY, EXECUTOR_TOKEN
 * @param {number} gatewayPort
 */
export function environmentOf(service, shared, gatewayPort) {
  const url = (offset) => `http://127.0.0.1:${gatewayPort + offset}`;
  const all = {
    SHUTDOWN_TIMEOUT_MS: '5000',
    // A third less processor time to start.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    ...Object.fromEntries(
      Object.entries(localLimits).filter(([name]) => !process.env[`${name}_FILE`]),
    ),
    ...process.env,
    ...shared,
    NODE_ENV: process.env.NODE_ENV || 'development',
    HOST: (service.name === 'gateway' && process.env.HOST) || '127.0.0.1',
    PORT: String(service.port),
    INTERNAL_PORT: String(service.internalPort),
    GATEWAY_URL: url(0),
    PUBLIC_URL: process.env.PUBLIC_URL || `http://localhost:${gatewayPort}`,
    DATA_URL: url(1),
    CHAT_URL: url(2),
    WEBHOOK_INGEST_URL: url(3),
    TOOL_EXECUTOR_URL: url(4),
    MANAGE_URL: url(7),
    ...(standInsUrl(gatewayPort) && { STAND_INS_URL: standInsUrl(gatewayPort) }),
  };
  const own = ['PORT', 'INTERNAL_PORT', 'HOST', 'NODE_ENV'];
  const passed = Object.entries(all).filter(
    ([name]) =>
      own.includes(name) ||
      (!notPassedOn.test(name) &&
        !isReplaced(name, shared) &&
        (service.trusted || !secretName.test(name) || service.secrets.includes(name))),
  );
  return Object.fromEntries(passed);
}

/**
 * The user's settings for providers. The CLI connects to providers too, and must use the settings
 * of the services.
 */
export function providerSettings(gatewayPort) {
  const forProviders =
    /^(KAPSO|RESEND|EMAIL|FLOW|MESSAGING|BILLING|IDENTITY)_(?!.*_FILE$)|^PUBLIC_URL$/;
  const settings = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => forProviders.test(name)),
  );
  return {
    ...settings,
    ...(standInsUrl(gatewayPort) && { STAND_INS_URL: standInsUrl(gatewayPort) }),
  };
}

/** Whether `shared` replaces a NAME_FILE variable: services refuse NAME together with NAME_FILE. */
function isReplaced(name, shared) {
  return name.endsWith('_FILE') && name.slice(0, -'_FILE'.length) in shared;
}
