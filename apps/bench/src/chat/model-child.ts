import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An OpenAI-compatible model that answers immediately. The message "tools N" causes N calls of
 * `entity.query` with different arguments, one call in each answer. All other messages get the same
 * short completion.
 */
const completion = (message: object) =>
  Buffer.from(
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'gpt-5-mini',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, ...message },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 },
    }),
  );
const answer = completion({ content: 'Yes, we have it in stock.' });
const calls = Array.from({ length: 10 }, (_, index) => {
  const written = {
    name: 'entity_query',
    arguments: JSON.stringify({ type: 'product', limit: index + 1 }),
  };
  return completion({ tool_calls: [{ id: `call_${index}`, type: 'function', function: written }] });
});

interface Asked {
  messages?: { role: string; content: string }[];
}

function answerTo(body: string): Buffer {
  // Most requests are not parsed, because the time of this server is part of the measurement.
  if (!body.includes('"tools ')) return answer;
  const { messages = [] } = JSON.parse(body) as Asked;
  const from = messages.findLastIndex(({ role }) => role === 'user');
  const wanted = Number(/^tools (\d)$/.exec(messages[from]?.content ?? '')?.[1] ?? 0);
  const done = messages.slice(from).filter(({ role }) => role === 'tool').length;
  return done < wanted ? calls[done]! : answer;
}

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (text: string) => (body += text));
  request.once('end', () => {
    const reply = answerTo(body);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': reply.length });
    response.end(reply);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
