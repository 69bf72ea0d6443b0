import {
  type ModelServerMessage,
  type Protocol,
  checkTools,
  defaultUsage,
  eventOf,
  newCallId,
  wordsOf,
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

/** Gemini's protocol: `POST /v1beta/models/<model>:generateContent` and `:streamGenerateContent?alt=sse`. */
export const googleProtocol: Protocol = {
  matches: (path) => path.endsWith(':generateContent') || path.endsWith(':streamGenerateContent'),
  read(body, path, headers) {
    const contents = body.contents as Content[];
    const declared =
      (body.tools as { functionDeclarations?: { name: string; parameters: unknown }[] }[] | undefined) ?? [];
    const tools = declared.flatMap((tool) => tool.functionDeclarations ?? []);
    const problems = checkTools(tools);
    for (const [at, { role, parts }] of contents.entries()) {
      if (role !== 'user' && role !== 'model') problems.push(`content ${at}: role ${role}`);
      if (parts.length === 0) problems.push(`content ${at}: no parts`);
      if (role === contents[at - 1]?.role) problems.push(`content ${at} has the role of the previous content`);
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
      system: typeof system === 'object' ? system.parts.map((part) => part.text ?? '').join('') : (system ?? ''),
      messages: contents.flatMap(toMessages),
      tools: tools.map(({ name }) => name),
      headers,
      body,
    };
    return { request, problems };
  },
  write(_request, reply) {
    const usage = reply.usage ?? defaultUsage;
    const calls = (reply.toolCalls ?? []).map((call) => ({ functionCall: { name: call.name, args: call.args ?? {} } }));
    return JSON.stringify({
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts: [...(reply.text ? [{ text: reply.text }] : []), ...calls] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: usage.input,
        candidatesTokenCount: usage.output - (usage.reasoning ?? 0),
        totalTokenCount: usage.input + usage.output,
        ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
      },
      responseId: newCallId('resp'),
    });
  },
  asksForStream: (_body, path) => path.endsWith(':streamGenerateContent'),
  streamType: 'text/event-stream',
  pieces(_request, reply) {
    const usage = reply.usage ?? defaultUsage;
    const responseId = newCallId('resp');
    const counts = (written: number) => ({
      ...{ promptTokenCount: usage.input, candidatesTokenCount: written, totalTokenCount: usage.input + written },
      ...(usage.reasoning !== undefined && { thoughtsTokenCount: usage.reasoning }),
    });
    const parts = [
      ...wordsOf(reply.text).map((text) => ({ text })),
      ...(reply.toolCalls ?? []).map((call) => ({ functionCall: { name: call.name, args: call.args ?? {} } })),
    ];
    const total = usage.output - (usage.reasoning ?? 0);
    return parts.map((part, at) => {
      const isLast = at === parts.length - 1;
      const content = { role: 'model', parts: [part] };
      return eventOf({
        candidates: [{ index: 0, content, ...(isLast && { finishReason: 'STOP' }) }],
        usageMetadata: counts(isLast ? total : Math.min(at + 1, total)),
        responseId,
      });
    });
  },
  error: (status, message) => ({ error: { code: status, message, status: 'ERROR', details: [] } }),
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
    functionCall ? [{ id: functionCall.name, name: functionCall.name, args: functionCall.args }] : [],
  );
  const text = parts.map((part) => part.text ?? '').join('');
  const isOwn = text !== '' || toolCalls.length > 0;
  return [
    ...results,
    ...(isOwn ? [{ role: role === 'model' ? ('assistant' as const) : ('user' as const), text, toolCalls }] : []),
  ];
}
