import { AnswerTooLarge, UnreadableAnswer, faultOf, reportedError } from './provider-fault';
import { type AnswerReader, parseJson } from './answer';

/**
 * Maximum size of an answer that is no stream, and of one line of a stream, in bytes. Answers of
 * models have some KiB.
 */
const maxPieceBytes = 8 * 1024 * 1024;
/**
 * Maximum size of a stream in bytes. Each word of an answer arrives in an event of about 250 bytes.
 */
const maxStreamBytes = 64 * 1024 * 1024;

/**
 * Reads the body of an answer: a stream of events, lines of JSON, or one JSON document. The
 * content decides, not the header: servers answer `text/plain`, ignore that a stream was asked
 * for, or send one unasked.
 */
export async function readValues(
  body: AsyncIterable<Uint8Array>,
  reader: Pick<AnswerReader, 'take' | 'takeDone' | 'isFull' | 'hasEnded'>,
): Promise<void> {
  const decoder = new TextDecoder();
  const lines = createLines();
  let parser: LineParser | undefined;
  let isNoStream = true;
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > (isNoStream ? maxPieceBytes : maxStreamBytes)) throw tooLarge();
    for (const line of lines.split(decoder.decode(chunk, { stream: true }))) {
      parser ??= parserFor(line, reader);
      parser?.take(line);
      isNoStream = parser?.isDocument ?? true;
    }
    if (lines.restChars() > maxPieceBytes) throw tooLarge();
    if (reader.isFull()) return;
  }
  const rest = lines.rest() + decoder.decode();
  parser ??= parserFor(rest, reader);
  parser?.take(rest);
  parser?.end();
}

const tooLarge = () =>
  new AnswerTooLarge(`The answer of the provider is larger than ${maxPieceBytes} bytes`);

interface LineParser {
  take(line: string): void;
  end(): void;
  /** The lines so far are no events or documents of their own. */
  readonly isDocument: boolean;
}

type Taker = Pick<AnswerReader, 'take' | 'takeDone' | 'hasEnded'>;

/** The first line that is not blank decides. */
function parserFor(line: string, reader: Taker): LineParser | undefined {
  const start = line.trimStart();
  // A comment may precede anything.
  if (start === '' || start.startsWith(':')) return undefined;
  return start.startsWith('{') || start.startsWith('[')
    ? createJsonParser(reader)
    : createEventParser(reader);
}

/** Server-sent events, of which each has a JSON document. */
function createEventParser(reader: Taker): LineParser {
  let data: string[] = [];
  let dataChars = 0;
  let type = '';

  function dispatch(isEnd: boolean): void {
    const text = data.join('\n').trim();
    data = [];
    dataChars = 0;
    if (text === '') return;
    if (text === '[DONE]') return reader.takeDone();
    const value = parseJson(text);
    // An event in which the stream breaks off is none.
    if (value === undefined && (isEnd || reader.hasEnded())) return;
    if (value === undefined)
      throw new UnreadableAnswer('The provider sent an event that is not JSON');
    takeValue(reader, type === 'error' && !hasError(value) ? { error: value } : value, true);
  }

  return {
    isDocument: false,
    take(line) {
      if (line === '') {
        dispatch(false);
        type = '';
        return;
      }
      if (line.startsWith('event:')) type = line.slice('event:'.length).trim();
      if (!line.startsWith('data:')) return;
      const text = line.slice('data:'.length);
      dataChars += text.length;
      if (dataChars > maxPieceBytes) throw tooLarge();
      // Some servers send no blank line after an event.
      if (data.length === 1 && parseJson(data[0]!) !== undefined) dispatch(false);
      data.push(text);
    },
    end: () => dispatch(true),
  };
}

const hasError = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'error' in value;

/** One JSON document on each line, or one in all lines. */
function createJsonParser(reader: Taker): LineParser {
  /** The lines of a document that spans several. */
  let document: string[] | null = null;
  let isFirst = true;
  return {
    get isDocument() {
      return document !== null;
    },
    take(line) {
      if (document !== null) return void document.push(line);
      if (line.trim() === '') return;
      const value = parseJson(line);
      if (value !== undefined) takeValue(reader, value, false);
      else if (isFirst) document = [line];
      else if (!reader.hasEnded())
        throw new UnreadableAnswer('The answer of the provider ended in the middle');
      isFirst = false;
    },
    end() {
      if (document === null) return;
      const value = parseJson(document.join('\n'));
      if (value === undefined)
        throw new UnreadableAnswer('The answer of the provider ended in the middle');
      takeValue(reader, value, false);
    },
  };
}

/**
 * Gives the reader an answer or an event. An error that the provider reports in its
 * place is thrown.
 */
function takeValue(reader: Taker, value: unknown, isEvent: boolean): void {
  for (const one of [value].flat()) {
    if (typeof one !== 'object' || one === null) continue;
    const error = reportedError(one as Record<string, unknown>);
    if (error !== null) throw faultOf(error);
    reader.take(one as Record<string, unknown>, isEvent);
  }
}

/**
 * Splits text into lines. A line that has no end yet is kept in pieces, because joining them at
 * each chunk copies it.
 */
function createLines() {
  let pieces: string[] = [];
  let chars = 0;
  return {
    split(text: string): string[] {
      const lines = text.split('\n');
      const last = lines.pop()!;
      if (lines.length > 0) {
        lines[0] = pieces.join('') + lines[0]!;
        pieces = [];
        chars = 0;
      }
      pieces.push(last);
      chars += last.length;
      return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
    },
    restChars: () => chars,
    rest: () => pieces.join(''),
  };
}
