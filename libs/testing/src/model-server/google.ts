import { googleDocument, googlePieces } from './google-answers';
import {
  type ModelServerMessage,
  type Protocol,
  checkTools,
  checkUserTexts,
  eventOf,
} from './protocol';

interface Part {
  text?: string;
  functionCall?: { name: string; args: unknown };
  functionResponse?: { name: string; response: unknown };
}

interface Content {
  role: string;
  parts: Part[];
}

/**
 * Gemini's protocol: `POST /v1beta/models/<model>:generateContent` and
 * `:streamGenerateContent?alt=sse`.
 */
export const googleProtocol: Protocol = {
  matches: (path) => path.endsWith(':generateContent') || path.endsWith(':streamGenerateContent'),
  read(body, path, headers) {
    const contents = body.contents as Content[];
    const declared =
      (body.tools as
        { functionDeclarations?: { name: string; parameters: unknown }[] }[] | undefined) ?? [];
    const tools = declared.flatMap((tool) => tool.functionDeclarations ?? []);
    const written = contents.filter(({ parts }) => !parts.some((part) => part.functionResponse));
    const texts = written.map(({ role, parts }) => ({ role, text: textOf(parts) }));
    const problems = [...checkTools(tools), ...checkUserTexts(texts)];
    for (const [at, { role, parts }] of contents.entries()) {
      if (role !== 'user' && role !== 'model') problems.push(`content ${at}: role ${role}`);
      if (parts.length === 0) problems.push(`content ${at}: no parts`);
      if (role === contents[at - 1]?.role)
        problems.push(`content ${at} has the role of the previous content`);
      const calls = parts.filter((part) => part.functionCall).length;
      const answers = contents[at + 1]?.parts.filter((part) => part.functionResponse).length ?? 0;
      if (calls !== answers && calls + answers > 0 && role === 'model') {
        problems.push(`content ${at}: ${calls} calls, ${answers} responses in the next content`);
      }
    }
    if (contents.at(-1)?.role !== 'user') problems.push("the last content is not the user's");
    if (!headers['x-goog-api-key']) problems.push('no x-goog-api-key');
    const system = body.systemInstruction as Content | string | undefined;
    const request = {
      protocol: 'google' as const,
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      system: typeof system === 'object' ? textOf(system.parts) : (system ?? ''),
      messages: contents.flatMap(toMessages),
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write: googleDocument,
  asksForStream: (_body, path) => path.endsWith(':streamGenerateContent'),
  streamType: 'text/event-stream',
  pieces: googlePieces,
  serialize: (piece) => eventOf(piece),
  hasText: (piece) =>
    (piece as { candidates?: { content: Partial<Content> }[] }).candidates?.[0]?.content.parts?.[0]
      ?.text !== undefined,
  error: (status, message) => ({ error: { code: status, message, status: 'ERROR', details: [] } }),
  errorInAnswer: {
    error: { code: 503, message: 'The model is overloaded', status: 'UNAVAILABLE' },
  },
};

function toMessages({ role, parts }: Content): ModelServerMessage[] {
  const results = parts.flatMap((part): ModelServerMessage[] =>
    part.functionResponse
      ? [
          {
            role: 'tool',
            text: JSON.stringify(part.functionResponse.response),
            toolCalls: [],
            toolCallId: part.functionResponse.name,
          },
        ]
      : [],
  );
  const toolCalls = parts.flatMap(({ functionCall }) =>
    functionCall
      ? [{ id: functionCall.name, name: functionCall.name, args: functionCall.args }]
      : [],
  );
  const text = textOf(parts);
  const isOwn = text !== '' || toolCalls.length > 0;
  return [
    ...results,
    ...(isOwn
      ? [{ role: role === 'model' ? ('assistant' as const) : ('user' as const), text, toolCalls }]
      : []),
  ];
}

const textOf = (parts: Part[]): string => parts.map((part) => part.text ?? '').join('');
