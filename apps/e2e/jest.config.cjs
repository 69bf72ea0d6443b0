const { join } = require('node:path');

module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'e2e',
  globalSetup: join(__dirname, 'global-setup.mjs'),
  globalTeardown: join(__dirname, 'global-teardown.mjs'),
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/src/browser/'],
};
