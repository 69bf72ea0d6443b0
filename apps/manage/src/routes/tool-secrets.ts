import { toolSecretLimits } from '@parley/contracts';
import type { Db, SecretBox } from '@parley/db';
import { type Handler, badRequest, notFound } from '@parley/service';
import { deleteToolSecret, listToolSecrets, setToolSecret } from '@parley/tools';
import { type AuditDeps, auditOf } from '../audit';

interface Handlers {
  listToolSecrets: Handler<'listToolSecrets'>;
  setToolSecret: Handler<'setToolSecret'>;
  deleteToolSecret: Handler<'deleteToolSecret'>;
}

export interface ToolSecretRouteDeps extends AuditDeps {
  db: Db;
  box: SecretBox;
}

const targetOf = (name: string) => ({ type: 'tool_secret', id: name });

/**
 * `/v1/tool-secrets`: the secrets of an environment's custom tools. Values are in no answer and in
 * no entry of the audit log.
 */
export const createToolSecretHandlers = ({ db, box, ...deps }: ToolSecretRouteDeps): Handlers => ({
  listToolSecrets: async (_input, { scope }) => ({ data: await listToolSecrets(db, scope) }),

  setToolSecret: ({ body }, context) =>
    db.transaction(async (tx) => {
      const changed = await setToolSecret(tx, box, context.scope, body);
      if (changed === null) {
        const message = `An environment has at most ${toolSecretLimits.perEnvironment} secrets. Delete one first: parley tool-secrets delete NAME`;
        throw badRequest(message, undefined, 'too_many_secrets');
      }
      await auditOf(deps, context)(tx, { action: 'tool_secret.set', target: targetOf(body.name) });
      return changed;
    }),

  deleteToolSecret: ({ params: { name } }, context) =>
    db.transaction(async (tx) => {
      if (!(await deleteToolSecret(tx, context.scope, name)))
        throw notFound(
          `No secret ${name} is set in ${context.scope.environment}`,
          'secret_not_found',
        );
      await auditOf(deps, context)(tx, { action: 'tool_secret.deleted', target: targetOf(name) });
      return { success: true };
    }),
});
