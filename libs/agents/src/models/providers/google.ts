import { createExchange } from '../exchange';
import { type AskProvider, ask, commonFields } from '../provider-call';
import { createGoogleReader } from './read-google';

/** What the class calls of Google's library, which takes no `fetch` of ours. */
interface GeminiClient {
  generateContent(request: GeminiRequest): Promise<{ response: object }>;
  generationConfig?: object;
  safetySettings?: object[];
}

interface GeminiRequest {
  contents: { role: string; parts: unknown[] }[];
}

/** Its method is replaced for each call, so the class is made for each call, which takes 4 µs. */
export async function loadGoogle(): Promise<AskProvider> {
  const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai');
  return (model, call) => {
    const exchange = createExchange({ ...call, readerOf: () => createGoogleReader });
    const { apiKey, baseUrl, maxTokens, name } = model;
    const gemini = new ChatGoogleGenerativeAI({
      ...commonFields(model),
      apiKey,
      baseUrl,
      maxOutputTokens: maxTokens,
    });
    const { client } = gemini as unknown as { client: GeminiClient };
    client.generateContent = async (request) => {
      const { generationConfig, safetySettings } = client;
      mergeAdjacentMessages(request.contents);
      const path = name.includes('/') ? name : `models/${name}`;
      const method = call.sink ? 'streamGenerateContent?alt=sse' : 'generateContent';
      const headers = { 'content-type': 'application/json', 'x-goog-api-key': apiKey };
      const body = JSON.stringify({ generationConfig, safetySettings, ...request });
      return {
        response: await exchange.send(`${baseUrl}/v1beta/${path}:${method}`, headers, body),
      };
    };
    return ask(gemini, exchange, call);
  };
}

/** The class sends the results of parallel calls in separate messages, where Gemini expects one. */
function mergeAdjacentMessages(contents: { role: string; parts: unknown[] }[]): void {
  for (let at = contents.length - 1; at > 0; at -= 1) {
    if (contents[at]!.role !== contents[at - 1]!.role) continue;
    contents[at - 1]!.parts.push(...contents[at]!.parts);
    contents.splice(at, 1);
  }
}
