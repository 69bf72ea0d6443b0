import { executorLimits } from '@parley/contracts';
import type { GuardedFetch } from '@parley/outbound';
import { z } from 'zod';
import { sandboxLimits } from './sandbox/limits';
import type { RequestHandler } from './sandbox/run-handler';
import type { ToolCallback } from './tool-callback';

const fetchSchema = z.object({
  url: z.string().max(16_384),
  method: z.string().max(20),
  headers: z.array(z.tuple([z.string().max(256), z.string().max(16_384)])).max(100),
  redirect: z.enum(['follow', 'manual', 'error']).optional(),
});
const toolSchema = z.object({
  tool: z
    .string()
    .regex(/^[a-zA-Z][\w-]*(\.[a-zA-Z][\w-]*)*$/)
    .max(128),
  args: z.custom<Record<string, never>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ),
});

export interface RunAccess {
  allowedHosts?: readonly string[];
  /** Null for a run that may not call tools. */
  callback: { url: string; token: string; depth: number; requestId: string; trace?: string } | null;
  timeoutMs: number;
}

/**
 * Answers the requests of one run. Every connection of a handler is opened and checked
 * here, in the service.
 */
export function createRequestHandler(
  { guardedFetch, toolCallback }: { guardedFetch: GuardedFetch; toolCallback: ToolCallback },
  { allowedHosts, callback, timeoutMs }: RunAccess,
): RequestHandler {
  async function fetch(
    value: unknown,
    body: Uint8Array | undefined,
    signal: AbortSignal,
  ): ReturnType<RequestHandler> {
    const parsed = fetchSchema.safeParse(value);
    if (!parsed.success) return { value: { ok: false, message: 'Invalid request' } };
    const limits = { allowedHosts, timeoutMs, maxResponseBytes: sandboxLimits.bodyBytes, signal };
    const result = await guardedFetch.fetch({ ...parsed.data, body, ...limits });
    if (!result.ok) return { value: { ok: false, message: result.message } };
    const { body: bytes, ...head } = result;
    return { value: head, bytes };
  }

  async function tool(value: unknown, signal: AbortSignal): ReturnType<RequestHandler> {
    const refuse = (error: string, errorType: string) => ({
      value: { ok: false, error, errorType },
    });
    const parsed = toolSchema.safeParse(value);
    if (!parsed.success) return refuse('A tool takes an object of arguments', 'execution_error');
    if (callback === null) return refuse('Tools cannot be called from here', 'permission_denied');
    if (callback.depth >= executorLimits.maxCallbackDepth) {
      return refuse(
        `Tools may call each other ${executorLimits.maxCallbackDepth} deep`,
        'execution_error',
      );
    }
    const body = { ...parsed.data, depth: callback.depth + 1 };
    return { value: await toolCallback.call(callback, body, signal) };
  }

  return ({ kind, value, body }, signal) =>
    kind === 'fetch' ? fetch(value, body, signal) : tool(value, signal);
}
