import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An OpenAI-compatible model that answers immediately with the same sentence, whole or as a stream.
 */
const words = 'Yes, we have it in stock, in two colours and three sizes.'.match(/\s*\S+/g)!;
const common = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'gpt-5-mini' };
const usage = { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 };

const whole = Buffer.from(
  JSON.stringify({
    ...common,
    object: 'chat.completion',
    usage,
    choices: [
      { index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' },
    ],
  }),
);
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...common,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const chunks = [
  chunk({ role: 'assistant', content: '' }),
  ...words.map((content) => chunk({ content })),
  chunk({}, 'stop'),
  { ...common, object: 'chat.completion.chunk', choices: [], usage },
];
const stream = Buffer.from(
  [...chunks.map((one) => JSON.stringify(one)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join(''),
);

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.once('end', () => {
    const isStream = body.includes('"stream":true');
    const reply = isStream ? stream : whole;
    const type = isStream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': reply.length }).end(reply);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
