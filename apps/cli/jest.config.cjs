module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'cli',
  globalSetup: '<rootDir>/global-setup.mjs',
  globalTeardown: '<rootDir>/global-teardown.mjs',
};
