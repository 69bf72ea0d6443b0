import type { IncomingMessage } from 'node:http';
import { executorLimits, toolCallbackBodySchema, toolCallbackResponseSchema } from '@parley/contracts';
import { route, unauthorized } from '@parley/service';
import type { ChatAppDeps } from '../app';

/**
 * `POST /internal/tool-calls`: `parley.<tool>(…)` of code in the executor, with the token that was made for its run. It
 * can do what its caller may and no more. The gateway does not forward this path.
 */
export const callToolRoute = ({ tools, callbackTokens }: ChatAppDeps) => {
  const grantOf = (request: IncomingMessage) => {
    const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const read = token === undefined ? null : callbackTokens.read(token);
    if (read === null) throw unauthorized();
    return read;
  };
  return route(
    {
      method: 'post',
      path: '/internal/tool-calls',
      permission: null,
      guard: grantOf,
      body: toolCallbackBodySchema,
      bodyLimitBytes: executorLimits.argsBytes + 4_096,
      response: toolCallbackResponseSchema,
    },
    async ({ body: { tool, args } }, { request, signal }) => {
      const { scope, grant } = grantOf(request);
      const { actor, allowed, context } = grant;
      const result = await tools.run(scope, { name: tool, args, actor, allowed, context: { ...context, signal } });
      return result.ok
        ? { ok: true, result: result.result }
        : { ok: false, error: result.message, errorType: result.errorType };
    },
  );
};
