import type { JsonObject } from '@parley/contracts';
import { encodeToolName } from '../tool-names';
import { type SentCall, type WrittenCall, parseJson } from './answer';

/** The longest id that is sent back. OpenAI's have about 30 characters. */
const maxIdChars = 512;
const maxShownChars = 200;
/** What the Data API accepts, and what recursive code can process. */
const maxDepth = 64;

/**
 * The calls with what is needed to run them and to send them back: an id that no other call of the
 * message has, a name that every provider accepts, and arguments. A call with `problem` is not run.
 * `ownId` makes the id of a call without one.
 */
export function readCalls(
  written: readonly WrittenCall[],
  ownId: (index: number) => string,
): SentCall[] {
  const ids = new Set<string>();
  return written.map((call, index) => {
    const isUsable = call.id !== '' && call.id.length <= maxIdChars && !ids.has(call.id);
    const id = isUsable ? call.id : ownId(index);
    ids.add(id);
    const named = { id, name: encodeToolName(call.name ?? ''), written: call };
    if (call.name === null) return { ...named, args: {}, problem: 'The call names no tool' };
    return { ...named, ...readArguments(call.args) };
  });
}

type Arguments = { args: JsonObject; problem?: string };

/**
 * Only complete JSON is read: to complete it would be to guess what the model meant. Without
 * arguments there is no text.
 */
export function readArguments(text: string): Arguments {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return { args: {} };
  const value = parseJson(trimmed);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const shown = trimmed.slice(0, maxShownChars);
    return { args: {}, problem: `The arguments are not a JSON object: ${shown}` };
  }
  if (isDeeper(value, maxDepth))
    return { args: {}, problem: `The arguments are nested deeper than ${maxDepth} levels` };
  return { args: value as JsonObject };
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1)));
