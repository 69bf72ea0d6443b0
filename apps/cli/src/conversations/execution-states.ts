/**
 * Besides what is stored: `stored` succeeded without an answer, as a person had taken the thread over; `stalled` has had
 * no sign of life from its process for longer than its lease, and the thread's next message ends it as failed.
 */
export const executionStates = ['queued', 'running', 'stalled', 'succeeded', 'stored', 'failed'] as const;
export type ExecutionState = (typeof executionStates)[number];
