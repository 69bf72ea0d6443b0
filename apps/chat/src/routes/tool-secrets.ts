import type { Db, SecretBox } from '@parley/db';
import { type Handler, badRequest, notFound } from '@parley/service';
import { toolSecretLimits } from '@parley/contracts';
import { deleteToolSecret, listToolSecrets, setToolSecret } from '@parley/tools';

interface Handlers {
  listToolSecrets: Handler<'listToolSecrets'>;
  setToolSecret: Handler<'setToolSecret'>;
  deleteToolSecret: Handler<'deleteToolSecret'>;
}

/**
 * `/v1/tool-secrets`: the secrets of an environment's custom tools. In this service, because it decrypts them for the tools
 * that it runs, so that no further service needs SECRETS_KEY.
 */
export const createToolSecretHandlers = ({ db, box }: { db: Db; box: SecretBox }): Handlers => ({
  listToolSecrets: async (_input, { scope }) => ({ data: await listToolSecrets(db, scope) }),
  setToolSecret: async ({ body }, { scope }) => {
    const changed = await setToolSecret(db, box, scope, body);
    if (changed !== null) return changed;
    const message = `An environment has at most ${toolSecretLimits.perEnvironment} secrets. Delete one first: parley tool-secrets delete NAME`;
    throw badRequest(message, undefined, 'too_many_secrets');
  },
  deleteToolSecret: async ({ params: { name } }, { scope }) => {
    if (await deleteToolSecret(db, scope, name)) return { success: true };
    throw notFound(`No secret ${name} is set in ${scope.environment}`, 'secret_not_found');
  },
});
