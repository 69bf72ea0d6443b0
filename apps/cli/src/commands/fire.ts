import type { FireTriggerResponse } from '@parley/contracts';
import { createApi } from '../api';
import { parseObject } from '../data/input';
import { formatDuration, formatTable, note, print, printJson } from '../terminal';

export interface FireOptions {
  entity?: string;
  data?: string;
  json?: boolean;
}

/** `parley fire <trigger>`: runs its actions now, with an entity or data as their context. */
export async function runFire(triggerSlug: string, { entity, data, json }: FireOptions): Promise<void> {
  const body = { triggerSlug, entityId: entity, data: data === undefined ? undefined : parseObject(data, '--data') };
  const fired = await createApi().post<FireTriggerResponse>('/v1/fire-trigger', body);
  if (json) return printJson(fired);
  const { steps, durationMs } = fired.result;
  print(
    formatTable(
      ['TOOL', 'STATUS', 'TOOK'],
      steps.map((step) => [step.tool, step.status, formatDuration(step.durationMs)]),
    ),
  );
  note(`${fired.triggerSlug}: ${fired.success ? 'done' : 'failed'} in ${formatDuration(durationMs)}.`);
}
