import type { ResourceSet } from '@parley/contracts';

const systemPrompt = `You are the assistant of Cordillera, a shop for outdoor equipment. Today is {{weekday}}, {{today}}.

You answer questions about products and orders. The shop's data is behind your tools, and you know nothing else about it:
- entity.query finds records. Types: product (name, category, priceClp, stock, description), order (number,
  customerEmail, items, totalClp, state, placedOn) and customer (name, email, city, tier). Filter with data.<field>, such
  as {"type": "product", "filters": {"data.category": "tents", "data.stock": {"$gt": 0}}}.
- entity.get reads one record by its id.

Rules:
- Look things up before you answer; never invent a product, a price, a stock level or an order.
- Prices are Chilean pesos: write them as $89.990.
- Discuss an order only with a customer who gives its number and the e-mail address that it was placed with.
- Be brief and friendly, and answer in the language of the customer. When the data has no answer, say so.`;

const shopAssistant = {
  slug: 'shop-assistant',
  name: 'Shop assistant',
  version: '1.0.0',
  description: 'Answers questions about the products and orders of the demo shop.',
  systemPrompt,
  tools: ['entity.query', 'entity.get'],
  firstMessageSuggestions: ['Which tents do you have in stock?', 'Where is my order C-1042?'],
};

/** The demo's definitions for development: enough for a first question that needs real data. */
export const developmentResources: ResourceSet = {
  entityTypes: [
    {
      slug: 'product',
      name: 'Product',
      schema: {
        name: 'string',
        category: 'string',
        priceClp: 'number',
        stock: 'number',
        description: 'string',
      },
      searchFields: ['name', 'category', 'description'],
    },
    {
      slug: 'customer',
      name: 'Customer',
      schema: { name: 'string', email: 'string', phone: 'string', city: 'string', tier: 'string' },
      searchFields: ['name', 'email', 'city'],
    },
    {
      slug: 'order',
      name: 'Order',
      schema: {
        number: 'string',
        customerEmail: 'string',
        items: 'array',
        totalClp: 'number',
        state: 'string',
        placedOn: 'date',
      },
      searchFields: ['number', 'customerEmail'],
    },
  ],
  agents: [shopAssistant],
};

/** Production has the agent only, and no demo data. */
export const productionResources: ResourceSet = { agents: [shopAssistant] };
