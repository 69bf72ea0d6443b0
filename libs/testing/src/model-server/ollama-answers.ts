import {
  argumentsObject,
  countWithQuirks,
  has,
  nameOf,
  parsedArgs,
  roleOf,
  usageField,
} from './apply-quirks';
import {
  type ModelServerCall,
  type ModelServerReply,
  type ModelServerRequest,
  defaultUsage,
  wordsOf,
} from './protocol';

export function ollamaDocument(request: ModelServerRequest, reply: ModelServerReply): object {
  const message = messageOf(reply, reply.text, {
    ...(reply.thoughts !== undefined && { thinking: reply.thoughts }),
    ...callsOf(reply),
  });
  return { ...headOf(request), message, done: true, ...endOf(reply) };
}

export function ollamaPieces(request: ModelServerRequest, reply: ModelServerReply): unknown[] {
  const part = (text: string, rest: object = {}) => ({
    ...headOf(request),
    message: messageOf(reply, text, rest),
    done: false,
  });
  return [
    ...(reply.thoughts === undefined ? [] : [part('', { thinking: reply.thoughts })]),
    ...wordsOf(reply.text).map((word) => part(word)),
    ...(reply.toolCalls ? [part('', callsOf(reply))] : []),
    { ...part(''), done: true, ...endOf(reply) },
  ];
}

const headOf = (request: ModelServerRequest) => ({
  model: request.model,
  created_at: new Date().toISOString(),
});

function messageOf(reply: ModelServerReply, text = '', rest: object = {}): object {
  const isNull = text === '' && has(reply, 'content_null');
  return { role: roleOf(reply, 'assistant'), content: isNull ? null : text, ...rest };
}

const callsOf = (reply: ModelServerReply) =>
  reply.toolCalls && {
    tool_calls: reply.toolCalls.map((call) => ({
      function: { name: nameOf(reply, call), arguments: argumentsOf(reply, call) },
    })),
  };

const argumentsOf = (reply: ModelServerReply, call: ModelServerCall): unknown =>
  has(reply, 'arguments_object') ? JSON.stringify(parsedArgs(call)) : argumentsObject(reply, call);

function endOf(reply: ModelServerReply): object {
  const { input, output } = reply.usage ?? defaultUsage;
  return {
    ...usageField(reply, 'prompt_eval_count', countWithQuirks(reply, input)),
    ...usageField(reply, 'eval_count', countWithQuirks(reply, output)),
    total_duration: 1,
    ...(!has(reply, 'no_finish_reason') && { done_reason: reply.finish ?? 'stop' }),
  };
}
