import type { IncomingMessage } from 'node:http';
import type { CallbackTokens } from '@parley/agents';
import { type Handler, unauthorized } from '@parley/service';
import { type Tools, failureText } from '@parley/tools';

/** Reads the callback token of a request. Throws 401 when it has no valid one. */
export const createGrantOf =
  (callbackTokens: Pick<CallbackTokens, 'read'>) => (request: IncomingMessage) => {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const read = token === undefined ? null : callbackTokens.read(token);
    if (read === null) throw unauthorized();
    return read;
  };

/**
 * `POST /internal/tool-calls`: runs `parley.<tool>(…)` of code in the executor, which sends the
 * token of its run. The code has the permissions of its caller, or those of `runAs`. The gateway
 * does not forward this path.
 */
export const callTool =
  ({
    tools,
    grantOf,
  }: {
    tools: Pick<Tools, 'run'>;
    grantOf: ReturnType<typeof createGrantOf>;
  }): Handler<'callTool'> =>
  async ({ body: { tool, args } }, { request, signal }) => {
    const { scope, grant } = grantOf(request);
    const { actor, allowed, context } = grant;
    const result = await tools.run(scope, {
      name: tool,
      args,
      actor,
      allowed,
      context: { ...context, signal },
    });
    return result.ok
      ? { ok: true, result: result.result }
      : { ok: false, error: failureText(result), errorType: result.errorType };
  };
