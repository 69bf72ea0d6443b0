import type { ThreadMessage } from '@parley/agents';
import { deliveriesOf } from '@parley/channels';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { msOf } from './page';

/** Returns the function that shows these messages, with the deliveries of those that were sent. */
export async function toMessages(
  db: Db,
  scope: Scope,
  channel: string,
  messages: readonly ThreadMessage[],
) {
  const isSent = channel === 'whatsapp';
  const replies = messages.map(({ role, requestId, channelMessageId, content: text }) => ({
    channelMessageId,
    requestId: isSent && role === 'assistant' && text !== '' ? requestId : null,
    text,
  }));
  const deliveries = await deliveriesOf(db, scope, replies);
  const deliveryOf = new Map(messages.map((message, index) => [message, deliveries[index]!]));
  return (message: ThreadMessage) => ({
    id: message.id,
    executionId: message.executionId,
    role: message.role,
    author: message.author,
    content: message.content,
    toolCallIds: message.toolCallIds,
    channelMessageId: isSent && message.role === 'user' ? message.requestId : null,
    delivery: deliveryOf.get(message) ?? null,
    createdAt: msOf(message.createdAt),
  });
}
