import type { StreamChunk } from '@parley/client';

/** What a running execution has written: one text for each model call, and the tool that runs. */
export interface Reply {
  executionId: string;
  texts: string[];
  runningTools: { id: string; name: string }[];
}

/** The reply after another chunk of its stream. */
export function written(reply: Reply, chunk: StreamChunk): Reply {
  const { texts, runningTools } = reply;
  switch (chunk.type) {
    case 'start-step':
      return { ...reply, texts: [...texts, ''] };
    // Another model or process begins the step again.
    case 'reset-step':
      return { ...reply, texts: [...texts.slice(0, -1), ''], runningTools: [] };
    case 'text-delta':
      return { ...reply, texts: [...texts.slice(0, -1), (texts.at(-1) ?? '') + chunk.delta] };
    case 'tool-input-available':
      return {
        ...reply,
        runningTools: [...runningTools, { id: chunk.toolCallId, name: chunk.toolName }],
      };
    case 'tool-output-available':
    case 'tool-output-error':
      return { ...reply, runningTools: runningTools.filter(({ id }) => id !== chunk.toolCallId) };
    default:
      return reply;
  }
}
