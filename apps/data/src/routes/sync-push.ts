import type { Db } from '@parley/db';
import { type CheckHandler, pushResources } from '@parley/resources';
import { type Handler, HttpError, badRequest, unavailable } from '@parley/service';
import { builtInToolNames } from '@parley/tools';

export interface PushDeps {
  db: Db;
  /** Parses the handlers of pushed tools; without it they are taken as they are. */
  checkHandler?: CheckHandler;
  /** Called after a push, which may have changed what is searched; it must neither wait nor throw. */
  requestReindexing: (requestId: string) => void;
}

/** `POST /v1/sync`: brings the environment's definitions to what is given, all or nothing. */
export const syncPush =
  ({ db, requestReindexing, checkHandler }: PushDeps): Handler<'syncPush'> =>
  async ({ body }, { scope, requestId }) => {
    if (body.environment !== undefined && body.environment !== scope.environment) {
      const message = `is ${body.environment}, the key belongs to ${scope.environment}`;
      throw badRequest(`environment ${message}`, [{ path: 'environment', message }], 'invalid_body');
    }
    const pushed = await pushResources(db, scope, { ...body, knownTools: builtInToolNames, checkHandler });
    if (pushed.ok) {
      if (!pushed.result.dryRun && body.resources.entityTypes) requestReindexing(requestId);
      return pushed.result;
    }
    switch (pushed.reason) {
      case 'handlers_unchecked':
        throw unavailable('The tool executor cannot be asked whether the handlers can be parsed');
      case 'invalid':
        throw badRequest('The definitions have problems', pushed.problems, 'invalid_definitions');
      case 'version_conflict':
        throw new HttpError(
          409,
          'version_conflict',
          `The environment has changed since: it is at version ${pushed.version}`,
          {
            details: [
              {
                path: 'expectedVersion',
                message: `is ${body.expectedVersion}, the environment is at ${pushed.version}`,
              },
            ],
          },
        );
    }
  };
