import type { IncomingMessage } from 'node:http';
import type { CallbackTokens } from '@parley/agents';
import { type Handler, unauthorized } from '@parley/service';
import type { Tools } from '@parley/tools';

/** What a callback token grants; refuses a request without a valid one. */
export const createGrantOf = (callbackTokens: Pick<CallbackTokens, 'read'>) => (request: IncomingMessage) => {
  const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  const read = token === undefined ? null : callbackTokens.read(token);
  if (read === null) throw unauthorized();
  return read;
};

export interface CallToolDeps {
  tools: Pick<Tools, 'run'>;
  grantOf: ReturnType<typeof createGrantOf>;
}

/**
 * `POST /internal/tool-calls`: `parley.<tool>(…)` of code in the executor, with the token that was made for its run. It
 * can do what its caller may and no more. The gateway does not forward this path.
 */
export const callTool =
  ({ tools, grantOf }: CallToolDeps): Handler<'callTool'> =>
  async ({ body: { tool, args } }, { request, signal }) => {
    const { scope, grant } = grantOf(request);
    const { actor, allowed, context } = grant;
    const result = await tools.run(scope, { name: tool, args, actor, allowed, context: { ...context, signal } });
    return result.ok
      ? { ok: true, result: result.result }
      : { ok: false, error: result.message, errorType: result.errorType };
  };
