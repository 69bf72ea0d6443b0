// Talks to the OpenAI-compatible endpoint with the published packages, unmodified: `openai`,
// LangChain's `ChatOpenAI` and `@ai-sdk/openai-compatible`. Arguments: the address of the
// gateway and a key. Prints what each saw as JSON. A process of its own, because Jest cannot
// load ES modules.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';

const [gateway, apiKey] = process.argv.slice(2);
const baseURL = `${gateway}/openai/v1`;
const model = 'agent:slow';
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'My name is Ana.' },
  { role: 'assistant', content: 'Hello, Ana.' },
  { role: 'user', content: 'Who am I?' },
];
const failureOf = (promise) =>
  promise.then(
    () => null,
    (error) => [error.name ?? error.constructor.name, error.status ?? error.statusCode ?? null],
  );

async function useOpenAi() {
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
  const whole = await client.chat.completions.create({ model, messages });
  const stream = await client.chat.completions.create({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  const pieces = [];
  let usage = null;
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) pieces.push(chunk.choices[0].delta.content);
    usage = chunk.usage ?? usage;
  }
  const aborted = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Abort me' }],
    stream: true,
  });
  for await (const chunk of aborted)
    if (chunk.choices[0]?.delta.content) aborted.controller.abort();
  const other = new OpenAI({ apiKey: 'sk_dev_unknown', baseURL, maxRetries: 0 });
  return {
    text: whole.choices[0].message.content,
    finish: whole.choices[0].finish_reason,
    usage: whole.usage,
    streamed: pieces.join(''),
    isInPieces: pieces.length > 1,
    streamUsage: usage,
    models: (await client.models.list()).data.map(({ id }) => id),
    model: (await client.models.retrieve(model)).id,
    unknownKey: await failureOf(other.chat.completions.create({ model, messages })),
    unknownModel: await failureOf(
      client.chat.completions.create({ model: 'agent:none', messages }),
    ),
    failed: await failureOf(
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Fail' }] }),
    ),
    failedStream: await failureOf(
      (async () => {
        const failing = await client.chat.completions.create({
          model,
          messages: [{ role: 'user', content: 'Fail' }],
          stream: true,
        });
        for await (const chunk of failing)
          if (chunk.choices[0]?.finish_reason) throw new Error('The stream finished');
      })(),
    ),
  };
}

async function useLangChain() {
  const chat = new ChatOpenAI({ model, apiKey, maxRetries: 0, configuration: { baseURL } });
  const whole = await chat.invoke(messages);
  let streamed = '';
  for await (const chunk of await chat.stream(messages)) streamed += chunk.content;
  const other = new ChatOpenAI({
    model,
    apiKey: 'sk_dev_unknown',
    maxRetries: 0,
    configuration: { baseURL },
  });
  const { input_tokens, output_tokens } = whole.usage_metadata;
  return {
    text: whole.content,
    streamed,
    usage: [input_tokens, output_tokens],
    unknownKey: (await failureOf(other.invoke(messages)))[1],
  };
}

async function useAiSdk() {
  const provider = createOpenAICompatible({ name: 'parley', apiKey, baseURL, includeUsage: true });
  const prompt = { model: provider(model), messages, maxRetries: 0, allowSystemInMessages: true };
  const whole = await generateText(prompt);
  const stream = streamText(prompt);
  let streamed = '';
  for await (const piece of stream.textStream) streamed += piece;
  const other = createOpenAICompatible({ name: 'parley', apiKey: 'sk_dev_unknown', baseURL });
  return {
    text: whole.text,
    streamed,
    usage: [whole.usage.inputTokens, whole.usage.outputTokens, (await stream.usage).outputTokens],
    unknownKey: (await failureOf(generateText({ ...prompt, model: other(model) })))[1],
  };
}

console.log(
  JSON.stringify({
    openai: await useOpenAi(),
    langchain: await useLangChain(),
    aiSdk: await useAiSdk(),
  }),
);
