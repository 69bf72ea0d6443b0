import type { FireTriggerResponse } from '@parley/contracts';
import { createApi } from '../api';
import { parseObject } from '../data/input';
import { formatDuration, formatTable, note, print, printJson } from '../terminal';

export interface FireOptions {
  entity?: string;
  data?: string;
  json?: boolean;
}

/**
 * `parley fire <trigger>` and `parley triggers fire <trigger>`: runs the actions of a trigger now
 * and waits for them.
 */
export async function runFire(
  triggerSlug: string,
  { entity, data, json }: FireOptions,
): Promise<void> {
  const body = {
    triggerSlug,
    entityId: entity,
    data: data === undefined ? undefined : await parseObject(data, '--data'),
  };
  const fired = await createApi().post<FireTriggerResponse>('/v1/fire-trigger', body);
  if (json) return printJson(fired);
  const { runId, steps, durationMs } = fired.result;
  print(
    formatTable(
      ['TOOL', 'STATUS', 'TOOK'],
      steps.map((step) => [step.tool, step.status, formatDuration(step.durationMs)]),
    ),
  );
  note(`${runId} ${fired.success ? 'succeeded' : 'failed'} in ${formatDuration(durationMs)}.`);
}
