// Real processes are started and killed; on a busy machine that takes its time.
module.exports = { preset: '../../jest.preset.cjs', displayName: 'tool-executor', testTimeout: 60_000 };
