import nx from '@nx/eslint-plugin';
import tseslint from 'typescript-eslint';

/** Allowed imports between projects, as in the table in docs/architecture.md. */
const constraint = (scope, ...allowed) => ({
  sourceTag: `scope:${scope}`,
  onlyDependOnLibsWithTags: allowed.map((name) => `scope:${name}`),
});
const domain = ['contracts', 'db', 'audit', 'identity', 'redis', 'events'];
const executionLibraries = [
  'service',
  'outbound',
  ...domain,
  'entities',
  'permissions',
  'payments',
  'channels',
  'tools',
  'triggers',
  'agents',
];
const allApps = [...executionLibraries, 'webhooks', 'runtime'];

const boundaries = [
  constraint('contracts'),
  constraint('service', 'contracts', 'outbound'),
  constraint('outbound', 'contracts'),
  constraint('db', 'contracts', 'outbound'),
  constraint('redis', 'contracts', 'db'),
  constraint('audit', 'contracts', 'db'),
  constraint('identity', 'contracts', 'db', 'audit', 'outbound'),
  constraint('events', 'contracts', 'db'),
  constraint('webhooks', ...domain),
  constraint('entities', ...domain),
  constraint('payments', ...domain, 'outbound', 'entities'),
  constraint('channels', ...domain, 'outbound', 'entities'),
  constraint('permissions', ...domain, 'entities'),
  constraint(
    'tools',
    ...domain,
    'outbound',
    'entities',
    'permissions',
    'payments',
    'channels',
    'service',
  ),
  constraint('triggers', ...domain, 'entities', 'tools'),
  constraint(
    'agents',
    ...domain,
    'outbound',
    'entities',
    'permissions',
    'payments',
    'channels',
    'tools',
  ),
  constraint('runtime', ...executionLibraries),
  constraint(
    'resources',
    ...domain,
    'outbound',
    'entities',
    'channels',
    'permissions',
    'tools',
    'triggers',
  ),
  constraint('definitions', 'contracts'),
  constraint('client', 'contracts'),
  constraint('rows', 'contracts'),
  constraint('widget', 'client'),
  constraint('console', 'client', 'rows'),
  constraint('embedded'),
  constraint('testing', ...domain, 'embedded'),
  constraint('gateway', 'contracts', 'service', 'outbound'),
  constraint('tool-executor', 'contracts', 'service', 'outbound'),
  constraint('stand-ins', 'contracts', 'service'),
  constraint('service-app', ...allApps, 'resources'),
  constraint('cli', ...allApps, 'resources', 'definitions', 'client', 'rows'),
  constraint('tests', ...allApps, 'resources', 'definitions', 'client', 'embedded', 'testing'),
];

const restricted = (name, owner) => ({
  name,
  message: `Only ${owner} may import ${name} (docs/architecture.md).`,
});
const driver = [restricted('pg', 'libs/db')];
const express = [restricted('express', 'apps and libs/service')];
const queueing = [restricted('bullmq', 'libs/redis'), restricted('ioredis', 'libs/redis')];
const langchain = {
  group: ['langchain', 'langchain/*', '@langchain/*'],
  message: 'Only libs/agents may import langchain.',
};
const restrictImports = (paths, patterns = []) => ({
  'no-restricted-imports': ['error', { paths, patterns }],
});

/** Properties of an object that is written where it is spread belong to the outer one. */
const literals = ['SpreadElement', 'JSXSpreadAttribute'].map((spread) => ({
  selector: `ObjectExpression > ${spread} > ObjectExpression, JSXOpeningElement > ${spread} > ObjectExpression`,
  message: 'Write the properties without a spread.',
}));
const restrictSyntax = (...selectors) => ({
  'no-restricted-syntax': ['error', ...literals, ...selectors],
});

/**
 * Globals that tools/ uses. ESLint checks undefined names in .mjs files, which
 * TypeScript does not check.
 */
const nodeGlobals = [
  'process',
  'structuredClone',
  'console',
  'fetch',
  'URL',
  'AbortSignal',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'WebAssembly',
];

export default tseslint.config(
  { ignores: ['**/dist', '**/node_modules', 'libs/*/src/generated', '**/*.cjs', '**/fixtures/**'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: { globals: Object.fromEntries(nodeGlobals.map((name) => [name, 'readonly'])) },
    rules: {
      'no-undef': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@nx': nx },
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/ban-ts-comment': 'error',
      'no-console': 'error',
      'no-sequences': ['error', { allowInParentheses: false }],
      ...restrictSyntax(),
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Only main.ts may read the environment (libs/service loadConfig).',
        },
      ],
      ...restrictImports([...driver, ...express, ...queueing], [langchain]),
    },
  },
  {
    files: ['apps/**/*.ts', 'apps/**/*.tsx', 'libs/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*-under-test.ts', 'apps/manage/src/testing/**'],
    rules: {
      '@nx/enforce-module-boundaries': [
        'error',
        {
          depConstraints: boundaries,
          allow: [],
          enforceBuildableLibDependency: false,
          // Otherwise one dynamic import of a library, such as in a test, would forbid
          // its static imports.
          checkDynamicDependenciesExceptions: ['.*'],
        },
      ],
    },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: [
      'libs/db/**',
      'apps/gateway/**',
      'libs/testing/**',
      'apps/bench/**',
      'apps/e2e/**',
      '**/*.test.ts',
      '**/*-under-test.ts',
      '**/testing/**',
    ],
    rules: restrictSyntax({
      selector:
        'CallExpression[callee.object.property.name="pool"], CallExpression[callee.object.name="pool"]',
      message: 'Run statements with db.query or db.acrossTenants (docs/adr/0033).',
    }),
  },
  {
    files: ['libs/service/**/*.ts', 'apps/**/*.ts'],
    rules: restrictImports([...driver, ...queueing], [langchain]),
  },
  { files: ['libs/redis/**/*.ts'], rules: restrictImports([...driver, ...express], [langchain]) },
  { files: ['libs/agents/**/*.ts'], rules: restrictImports([...driver, ...express, ...queueing]) },
  { files: ['libs/db/**/*.ts'], rules: restrictImports([...express, ...queueing], [langchain]) },
  {
    files: [
      '**/main.ts',
      '**/*.test.ts',
      'libs/*/src/testing.ts',
      '**/testing/**',
      'apps/cli/src/command-io.ts',
      'libs/widget/**/*.ts',
      'apps/bench/**/*.ts',
      'apps/e2e/**/*.ts',
      'libs/testing/**/*.ts',
      'libs/embedded/**/*.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    files: [
      '**/*.test.ts',
      '**/*.test.tsx',
      '**/*-under-test.ts',
      '**/testing/**',
      'apps/e2e/**/*.ts',
    ],
    rules: restrictSyntax({
      selector: 'MemberExpression[object.name="jest"][property.name="retryTimes"]',
      message: 'Find the cause of the failure (docs/testing.md, a calm test).',
    }),
  },
  // Tests run commands in their own process, several at a time.
  {
    files: ['apps/cli/src/**/*.ts'],
    ignores: [
      '**/*.test.ts',
      'apps/cli/src/main.ts',
      '**/testing/**',
      'apps/cli/src/command-io.ts',
    ],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['argv', 'cwd', 'env', 'exitCode', 'stderr', 'stdin', 'stdout'].map((property) => ({
          object: 'process',
          property,
          message: 'A command takes it from io() (apps/cli/src/command-io.ts).',
        })),
      ],
    },
  },
  {
    files: ['**/*.test.ts', 'apps/bench/**/*.ts', 'apps/e2e/**/*.ts', 'libs/testing/**/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
);
