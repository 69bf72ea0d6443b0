import { until } from './until';

export interface ReceivedEvent {
  id?: string;
  event?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read data of every shape
  data: any;
}

export interface OpenEventStream {
  response: Response;
  events: ReceivedEvent[];
  comments: number;
  /** What a client sends as Last-Event-ID when it connects again. */
  lastId: string;
  isOver: boolean;
  close(): void;
}

/**
 * Opens a stream of server-sent events and reads it until its end. Resolves after the first event,
 * or when it is refused.
 */
export async function openEventStream(
  url: string,
  headers: Record<string, string>,
): Promise<OpenEventStream> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const stream: OpenEventStream = {
    response,
    events: [],
    comments: 0,
    lastId: headers['Last-Event-ID'] ?? '',
    isOver: false,
    close: () => controller.abort(),
  };
  if (response.status !== 200) return stream;
  void (async () => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        if (block.startsWith(':')) stream.comments += 1;
        const fields: Record<string, string> = Object.fromEntries(
          block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)),
        );
        if (fields.id !== undefined) stream.lastId = fields.id;
        if (fields.data !== undefined)
          stream.events.push({
            ...fields,
            data: fields.data === '[DONE]' ? fields.data : JSON.parse(fields.data),
          });
      }
    }
  })()
    .catch(() => {})
    .finally(() => (stream.isOver = true));
  await until(() => stream.events.length > 0 || stream.isOver);
  return stream;
}
