/** As trigger_runs has them; `scheduled` waits for its time, its turn or its next try. */
export const runStates = ['scheduled', 'running', 'succeeded', 'dead', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
