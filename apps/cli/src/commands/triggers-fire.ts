import type { FireTriggerResponse } from '@parley/contracts';
import { createApi } from '../api';
import { usageFailure } from '../failure';
import { safeLine } from '../safe-text';
import { formatDuration, note, print, printJson } from '../terminal';

export interface TriggersFireOptions {
  entity?: string;
  data?: string;
  json?: boolean;
}

/** `parley triggers fire <trigger>`: runs its actions now and waits for them. */
export async function runTriggersFire(trigger: string, { entity, data, json }: TriggersFireOptions): Promise<void> {
  const answer = await createApi().post<FireTriggerResponse>('/v1/fire-trigger', {
    triggerSlug: trigger,
    entityId: entity,
    data: data === undefined ? undefined : parseObject(data),
  });
  if (json) return printJson(answer);
  for (const { tool, status, durationMs } of answer.result.steps) {
    print(`${safeLine(tool)}  ${status}  ${formatDuration(durationMs)}`);
  }
  note(`${answer.result.runId} took ${formatDuration(answer.result.durationMs)}`);
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // said below
  }
  throw usageFailure('--data wants a JSON object, such as {"total": 12}');
}
