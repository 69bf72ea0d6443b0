/** Definitions that test files push to their organizations. */
export const productType = {
  slug: 'product',
  name: 'Product',
  schema: { name: 'string', price: 'number', inStock: 'boolean', tags: 'array', status: 'string' },
  searchFields: ['name', 'description'],
};

const orderType = {
  slug: 'order',
  name: 'Order',
  schema: { number: 'string', total: 'number', customer: 'string' },
  searchFields: ['number'],
};

/**
 * Uses the built-in model `offline/scripted`, which needs no provider
 * (docs/reference/chat.md#models).
 */
export const assistant = {
  slug: 'assistant',
  name: 'Assistant',
  systemPrompt:
    'You help. Channel {{threadContext.channel}}, plan {{threadContext.params.plan | "none"}}.',
  model: 'offline/scripted',
  tools: ['entity.query', 'entity.get'],
};

export const catalog = { entityTypes: [productType, orderType], agents: [assistant] };
