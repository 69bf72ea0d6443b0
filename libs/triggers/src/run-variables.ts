import type { Json, JsonObject } from '@parley/contracts';
import { localDay } from '@parley/tools';
import type { ChangedEntity } from './match-condition';

/** The values of a run that its templates read as `trigger`. */
export interface RunSubject {
  triggerSlug: string;
  triggerName: string;
  runId?: string;
  entityId: string | null;
  entityType: string | null;
  action: string | null;
  change: Partial<ChangedEntity>;
  /** When the change was made, the schedule was due or the trigger was fired; Unix milliseconds. */
  timestamp: number;
  attempt?: number;
  organization: { name: string; timezone: string };
}

/** The variables of templates in actions and in `schedule.at`. */
export function runVariables(
  subject: RunSubject,
  results: Record<string, Json> = {},
  now = new Date(),
): JsonObject {
  const { organization, change, runId, attempt } = subject;
  return {
    // The result of a step is also available under its own name, unless one of the following
    // variables has that name.
    ...results,
    ...localDay(now, organization.timezone),
    currentTime: now.toISOString(),
    timestamp: now.getTime(),
    organizationName: organization.name,
    steps: results,
    trigger: {
      slug: subject.triggerSlug,
      name: subject.triggerName,
      entityId: subject.entityId,
      entityType: subject.entityType,
      action: subject.action,
      data: change.data ?? {},
      previousData: change.previousData ?? {},
      status: change.status ?? null,
      previousStatus: change.previousStatus ?? null,
      timestamp: subject.timestamp,
      ...(runId !== undefined && { runId }),
      ...(attempt !== undefined && { attempt }),
    },
  };
}
