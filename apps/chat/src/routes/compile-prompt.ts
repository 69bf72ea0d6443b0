import { jsonObjectSchema } from '@parley/contracts';
import { notFound, route } from '@parley/service';
import { z } from 'zod';
import type { ChatAppDeps } from '../app';

const bodySchema = z.object({
  slug: z.string({ error: 'slug is required' }).min(1, 'slug is required'),
  message: z.string().optional(),
  channel: z.enum(['api', 'whatsapp', 'widget', 'dashboard']).optional(),
  threadMetadata: jsonObjectSchema.optional(),
});

const responseSchema = z.object({ raw: z.string(), compiled: z.string(), context: jsonObjectSchema });

/** `POST /v1/compile-prompt`: an agent's system prompt as a conversation would see it, and what it used. */
export const compilePromptRoute = ({ agents }: ChatAppDeps) =>
  route(
    { method: 'post', path: '/v1/compile-prompt', permission: 'sync', body: bodySchema, response: responseSchema },
    async ({ body }, { scope, requestId, signal }) => {
      const result = await agents.compilePrompt(scope, { ...body, requestId, signal });
      if (!result.ok) throw notFound('Agent not found or no config for this environment', 'agent_not_found');
      const { raw, compiled, context } = result;
      return { raw, compiled, context };
    },
  );
