/** What `--status` takes; libs/triggers has what they mean. It is not imported, as `parley --help` would load it. */
export const runStates = ['scheduled', 'running', 'succeeded', 'dead', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
