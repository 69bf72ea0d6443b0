/**
 * The files that need a browser: a run of their own, beside the others. Two at a time, in
 * organizations of their own.
 */
module.exports = {
  ...require('./jest.config.cjs'),
  displayName: 'e2e-browser',
  testMatch: ['<rootDir>/src/browser/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 90_000,
  maxWorkers: 2,
};
