import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import startServers from '../../tools/test/global-setup.mjs';
import { build, buildableApps } from '../../tools/build.mjs';
import { buildConsole } from '../../tools/build-console.mjs';
import { loadTesting, loadTypescript } from '../../tools/start/load-typescript.mjs';
import { root } from '../../tools/start/paths.mjs';

/**
 * Builds the services for the files of a run, and starts one stack of real processes for all of
 * them, and one browser if they need it. Each file creates its own organization in the stack.
 */
export default async function globalSetup(config, project) {
  await startServers(config, project);
  const { name } = project.displayName;
  const bundles = join(root, 'dist', name);
  const apps = buildableApps().filter(
    (app) => !process.env.PARLEY_E2E_WITHOUT?.split(',').includes(app),
  );
  await build(apps, { outdir: bundles });
  await buildConsole(join(bundles, 'gateway', 'console'));

  process.env.PARLEY_TEST_PRELOAD += `,${join(import.meta.dirname, 'watch-egress.cjs')}`;
  process.env.PARLEY_TEST_EGRESS = join(bundles, `egress-${process.pid}`);
  writeFileSync(process.env.PARLEY_TEST_EGRESS, '');
  const packages = mkdtempSync(join(tmpdir(), 'parley-e2e-packages-'));
  globalThis.parleyRun = { packages };
  const isInBrowser = name === 'e2e-browser';
  if (isInBrowser) globalThis.parleyRun.browser = await startBrowser();
  const { createTestDatabase, createTestRedis, startStack } = await loadTesting();
  const [database, redis] = await Promise.all([createTestDatabase(), createTestRedis()]);
  const publicUrl = 'https://parley.example';
  const webhookSecrets = makeWebhookSecrets();
  const stack = await startStack({
    databaseUrl: database.url,
    redisUrl: redis.url,
    bundles,
    // The suite sends more requests than the default limits allow; limits.test.ts has a stack with
    // the default limits.
    environment: {
      RATE_LIMIT_PER_KEY: '100000',
      RATE_LIMIT_PER_ORGANIZATION: '100000',
      UNKNOWN_KEYS_PER_ADDRESS: '100000',
      MANAGE_RATE_LIMIT_PER_KEY: '100000',
      MANAGE_RATE_LIMIT_PER_ORGANIZATION: '100000',
      CHAT_RATE_LIMIT_PER_KEY: '100000',
      CHAT_RATE_LIMIT_PER_ORGANIZATION: '100000',
      ...(isInBrowser ? peopleLimits : { PUBLIC_URL: publicUrl }),
    },
    environmentOf: {
      'webhook-ingest': webhookSecrets,
      // Commands test accounts at servers of the tests, and connect numbers there.
      manage: {
        PROVIDER_ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost',
        MESSAGING_WEBHOOK_SECRET: webhookSecrets.MESSAGING_WEBHOOK_SECRET,
      },
      worker: { MESSAGING_WEBHOOK_SECRET: webhookSecrets.MESSAGING_WEBHOOK_SECRET },
      // Custom tools call servers of the tests.
      'tool-executor': { EXECUTOR_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
    },
  });
  Object.assign(globalThis.parleyRun, { stack, database });
  process.env.PARLEY_E2E_STACK = JSON.stringify({
    url: stack.url,
    executorToken: stack.executorToken,
    secretsKey: stack.secretsKey,
    publicUrl: isInBrowser ? stack.url : publicUrl,
    webhookSecrets,
    urls: Object.fromEntries(Object.values(stack.services).map(({ name, url }) => [name, url])),
    databaseUrl: database.url,
    redisUrl: redis.url,
    bundles,
    packages,
  });
}

/** All people of a run sign in from one address, and more often than the default limits allow. */
const peopleLimits = {
  PEOPLE_RATE_LIMIT_PER_PERSON: '100000',
  PEOPLE_RATE_LIMIT_PER_ORGANIZATION: '100000',
  SIGN_IN_ATTEMPTS_PER_PERSON: '100000',
  SIGN_IN_ATTEMPTS_PER_ADDRESS: '100000',
};

/**
 * Starts the browser that all files of the run connect to. Undefined on a machine that has none.
 */
async function startBrowser() {
  const { executablePath, browserArgs } = await loadTypescript(
    "export * from './apps/e2e/src/open-browser'",
    'open-browser',
  );
  if (executablePath === undefined) return undefined;
  const browser = await chromium.launchServer({ executablePath, args: browserArgs });
  process.env.PARLEY_E2E_BROWSER = browser.wsEndpoint();
  return browser;
}

/**
 * Random secrets in the providers' formats: Svix and Polar have a prefix, Kapso accepts any text.
 */
function makeWebhookSecrets() {
  const svix = () => `whsec_${randomBytes(24).toString('base64')}`;
  return {
    IDENTITY_WEBHOOK_SECRET: svix(),
    MESSAGING_WEBHOOK_SECRET: randomBytes(16).toString('hex'),
    BILLING_WEBHOOK_SECRET: `polar_whs_${randomBytes(16).toString('hex')}`,
    EMAIL_WEBHOOK_SECRET: svix(),
  };
}
