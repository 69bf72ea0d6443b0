import type { IncomingMessage } from 'node:http';
import { auditSourceOf } from '@parley/audit';
import { definitionLimits } from '@parley/contracts';
import type { Db } from '@parley/db';
import type { KeyLimit } from '@parley/identity';
import { type CheckHandler, pushResources, singular } from '@parley/resources';
import { type Handler, HttpError, badRequest, unavailable } from '@parley/service';
import { builtInToolNames } from '@parley/tools';

export interface PushDeps {
  db: Db;
  /** Parses the handlers of pushed tools; without it they are not checked. */
  checkHandler?: CheckHandler;
  /** Called after a push that may have changed search fields. It must not block or throw. */
  requestReindexing: (requestId: string) => void;
  /** Time for the checks of one push. */
  pushCheckMs?: number;
  keyLimit?: KeyLimit<IncomingMessage>;
}

/** `POST /v1/sync`: creates, updates and prunes definitions in one transaction. */
export const syncPush =
  ({ db, requestReindexing, checkHandler, pushCheckMs, keyLimit }: PushDeps): Handler<'syncPush'> =>
  async ({ body }, context) => {
    const { scope, caller, requestId } = context;
    if (body.environment !== undefined && body.environment !== scope.environment) {
      const message = `is ${body.environment}, but the key belongs to ${scope.environment}`;
      throw badRequest(
        `environment ${message}`,
        [{ path: 'environment', message }],
        'invalid_body',
      );
    }
    const pushed = await pushResources(db, scope, {
      ...body,
      source: auditSourceOf(context, keyLimit?.addressOf),
      // A key with `sync` opens the secrets of tools as well.
      mayGrantRights: caller.type === 'api_key' || caller.role === 'admin',
      knownTools: builtInToolNames,
      checkHandler,
      checkLimitMs: pushCheckMs,
    });
    if (pushed.ok) {
      if (!pushed.result.dryRun && body.resources.entityTypes) requestReindexing(requestId);
      return pushed.result;
    }
    switch (pushed.reason) {
      case 'handlers_unchecked':
        throw unavailable('The tool executor is unavailable, so the handlers cannot be checked');
      case 'parameters_unchecked':
        throw unavailable(
          'Other checks of the organization take too long, so the parameters cannot be checked',
        );
      case 'too_complex':
        throw new HttpError(
          413,
          'push_too_complex',
          'The definitions take too long to check. Push fewer at a time',
        );
      case 'too_large': {
        const { bytes, largest } = pushed;
        const names = largest
          .map((one) => `${singular[one.kind]} "${one.slug}" (${one.bytes} bytes)`)
          .join(', ');
        const sizes = `would have ${bytes} bytes of JSON together, and may have ${definitionLimits.totalBytes}`;
        const text = `The definitions of ${scope.environment} ${sizes}. The largest: ${names}`;
        throw new HttpError(413, 'definitions_too_large', text);
      }
      case 'invalid':
        throw badRequest('The definitions have problems', pushed.problems, 'invalid_definitions');
      case 'reserved': {
        const { problems } = pushed;
        throw new HttpError(403, 'requires_admin', problems[0]!.message, { details: problems });
      }
      case 'version_conflict': {
        const message = `is ${body.expectedVersion}, but the environment is at version ${pushed.version}`;
        const text = `The environment has changed: it is now at version ${pushed.version}`;
        throw new HttpError(409, 'version_conflict', text, {
          details: [{ path: 'expectedVersion', message }],
        });
      }
    }
  };
