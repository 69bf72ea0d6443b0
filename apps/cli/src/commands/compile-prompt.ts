import type { CompilePromptResponse } from '@parley/contracts';
import { createApi } from '../api';
import { parseObject } from '../data/input';
import { safeText } from '../safe-text';
import { note, print, printJson } from '../terminal';

export interface CompilePromptOptions {
  message?: string;
  channel?: string;
  metadata?: string;
  context?: boolean;
  json?: boolean;
}

/** `parley compile-prompt <agent>`: prints the system prompt with its templates filled in. */
export async function runCompilePrompt(slug: string, options: CompilePromptOptions): Promise<void> {
  const { message, channel, metadata, context, json } = options;
  const threadMetadata =
    metadata === undefined ? undefined : await parseObject(metadata, '--metadata');
  const body = { slug, message, channel, threadMetadata };
  const compiled = await createApi().post<CompilePromptResponse>('/v1/compile-prompt', body);
  if (json) return printJson(compiled);
  print(safeText(compiled.compiled));
  if (context) note(safeText(JSON.stringify(compiled.context, null, 2)));
}
