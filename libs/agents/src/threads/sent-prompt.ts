import { createHash } from 'node:crypto';
import type { ToolOffer } from '@parley/tools';
import { storableText, truncateBytes } from './storable-text';

/** Maximum size of a stored prompt, in UTF-8. The model gets the whole prompt. */
export const maxStoredPromptBytes = 256 * 1024;

/**
 * What a turn sends to the model besides messages. Equal prompts of a tenant are stored
 * once, by `hash`.
 */
export interface SentPrompt {
  hash: Buffer;
  /** At most `maxStoredPromptBytes`. */
  text: string;
  /** Size of the whole text. */
  bytes: number;
  /** Names of the tools that were offered. */
  tools: string[];
}

export function sentPrompt(system: string, offers: readonly ToolOffer[]): SentPrompt {
  const tools = offers.map(({ name }) => storableText(name));
  const hash = createHash('sha256').update(JSON.stringify(tools)).update(system).digest();
  return { hash, ...truncateBytes(storableText(system), maxStoredPromptBytes), tools };
}
