const { join } = require('node:path');

/** Files of `long` run at full size only (docs/testing.md). */
const isFull = process.env.PARLEY_TEST_ROUNDS === 'full';

module.exports = {
  preset: '../../jest.preset.cjs',
  displayName: 'e2e',
  globalSetup: join(__dirname, 'global-setup.mjs'),
  globalTeardown: join(__dirname, 'global-teardown.mjs'),
  testPathIgnorePatterns: [
    '/node_modules/',
    '<rootDir>/src/browser/',
    ...(isFull ? [] : ['<rootDir>/src/long/']),
  ],
};
