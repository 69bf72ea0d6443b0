/** What `--status` takes; libs/agents has what they mean. It is not imported, as `parley --help` would load it. */
export const executionStates = ['queued', 'running', 'stalled', 'succeeded', 'stored', 'failed'] as const;
export type ExecutionState = (typeof executionStates)[number];
