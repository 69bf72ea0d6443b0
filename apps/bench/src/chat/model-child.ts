import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenAI-compatible model that takes no time: it reads what comes and answers the same short completion. */
const answer = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-5-mini',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Yes, we have it in stock.' }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 },
  }),
);

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length });
    response.end(answer);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
