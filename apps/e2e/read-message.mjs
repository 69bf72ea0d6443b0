import { readUIMessageStream } from 'ai';

/**
 * The parts of the message that the published AI SDK makes of a stream of chunks. Throws where the
 * SDK reports an error.
 */
export async function partsOf(stream) {
  let message;
  const onError = (error) => {
    throw error;
  };
  for await (message of readUIMessageStream({ stream, onError, terminateOnError: true }));
  return message.parts;
}

export const textIn = (parts) =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
