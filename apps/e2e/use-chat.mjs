// Chats over the routes of docs/react.md, which the folder of the first argument contains, with the
// published transport of `useChat`. Prints the texts of a message and of what a reload gets in
// mid-stream. A process of its own, because Jest cannot load ES modules.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DefaultChatTransport } from 'ai';
import { partsOf, textIn } from './read-message.mjs';

const load = (path) => import(pathToFileURL(join(process.argv[2], 'app/api/chat', path)).href);
const [{ POST }, { GET }] = [await load('route.js'), await load('[id]/stream/route.js')];

/** The site's own server. */
async function fetchFromSite(path, init) {
  const request = new globalThis.Request(new URL(path, 'http://site.test'), init);
  const [, id] = /^\/api\/chat\/([^/]+)\/stream$/.exec(path) ?? [];
  return id === undefined ? POST(request) : GET(request, { params: Promise.resolve({ id }) });
}

const transport = new DefaultChatTransport({ api: '/api/chat', fetch: fetchFromSite });
const chatId = 'chat-1';
const reconnect = () => transport.reconnectToStream({ chatId });

const before = await reconnect();
const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
const stream = await transport.sendMessages({
  chatId,
  messages,
  trigger: 'submit-message',
  messageId: undefined,
});
const again = await reconnect();
const texts = await Promise.all([stream, again].map(async (one) => textIn(await partsOf(one))));
console.log(JSON.stringify({ before, texts, after: await reconnect() }));
