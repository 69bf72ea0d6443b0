import { type Client, push } from '../client';
import type { ConsoleKit } from './console-kit';

/** Pushes the definitions of a small shop: one agent, and products that can be searched. */
export const pushShop = (client: Client): Promise<void> =>
  push(client, {
    agents: [
      {
        slug: 'shop',
        name: 'Shop',
        systemPrompt: 'You sell tents.',
        model: 'openai/gpt-5-mini',
        tools: ['entity.query'],
      },
    ],
    entityTypes: [
      {
        slug: 'product',
        name: 'Product',
        schema: { name: 'string', price: 'number', tags: 'array', active: 'boolean' },
        searchFields: ['name'],
      },
    ],
  });

/** Sends a message to the agent of the shop over the API. */
export async function chatWithShop(
  { owner }: ConsoleKit,
  message: string,
  more: object = {},
): Promise<{ threadId: string; executionId: string }> {
  const { body } = await owner.post('/v1/agents/shop/chat', { message, ...more });
  const { threadId } = body as { threadId: string };
  const { data } = (await owner.get(`/v1/executions?thread=${threadId}`)).body as {
    data: { id: string }[];
  };
  return { threadId, executionId: data[0]!.id };
}
