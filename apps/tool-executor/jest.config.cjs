// The tests start and kill processes, which is slow on a busy machine.
module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'tool-executor',
  testTimeout: 60_000,
};
