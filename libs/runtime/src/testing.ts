import { randomBytes } from 'node:crypto';
import { type Db, createSecretBox } from '@parley/db';
import { createMetrics, loadConfig, silentLogger } from '@parley/service';
import { createRuntime } from './create-runtime';
import { runtimeVariables } from './runtime-variables';

export type TestRuntime = ReturnType<typeof startRuntime>;

/**
 * The domain on a test's database, connected as in the services. `environment` has the variables
 * that the test needs, such as the address of a stand-in.
 */
export function startRuntime(db: Db, environment: Record<string, string> = {}) {
  const secretsKey = randomBytes(32).toString('base64');
  const config = loadConfig(runtimeVariables, { SECRETS_KEY: secretsKey, ...environment });
  const log = silentLogger();
  const runtime = createRuntime({ config, db, log, metrics: createMetrics('test') });
  return {
    ...runtime,
    log,
    /** Encrypts the secrets that the runtime decrypts. */
    box: createSecretBox(config.SECRETS_KEY),
    async close(): Promise<void> {
      for (const { close } of runtime.closing) await close();
    },
  };
}
