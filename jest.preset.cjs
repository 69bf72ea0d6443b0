const { join } = require('node:path');

/** The jest.config.cjs of each project is `{ displayName, preset: '../../jest.preset.cjs' }`. */
module.exports = {
  testEnvironment: 'node',
  testTimeout: 60_000, // detects hanging tests, also on a busy machine
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  moduleFileExtensions: ['ts', 'js', 'cjs', 'mjs', 'json'],
  moduleNameMapper: {
    '^@parley/([^/]+)$': join(__dirname, 'libs/$1/src/index.ts'),
    '^@parley/([^/]+)/([^/]+)$': join(__dirname, 'libs/$1/src/$2.ts'),
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
    // Packages that exist as ES modules only, and one that imports when it runs, which needs a flag
    // of Node in jest.
    '/node_modules/(openid-client|oauth4webapi|jose|@opentelemetry/otlp-exporter-base)/.+\\.c?js$':
      ['@swc/jest', { jsc: { target: 'es2023' }, module: { type: 'commonjs' } }],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(openid-client|oauth4webapi|jose|@opentelemetry/otlp-exporter-base)/)',
  ],
  reporters: [
    'default',
    ...['durations', 'end'].map((name) => join(__dirname, 'tools/test', `${name}-reporter.mjs`)),
  ],
  setupFiles: [join(__dirname, 'libs/db/src/testing/observe-process.ts')],
  globalSetup: join(__dirname, 'tools/test/global-setup.mjs'),
  globalTeardown: join(__dirname, 'tools/test/global-teardown.mjs'),
};
