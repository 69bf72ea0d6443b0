/** The files that need a browser: a run of their own, beside the others. */
module.exports = {
  ...require('./jest.config.cjs'),
  displayName: 'e2e-browser',
  testMatch: ['**/browser/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 90_000,
};
