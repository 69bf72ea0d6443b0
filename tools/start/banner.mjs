import { bold, dim, print, seconds } from './output.mjs';

const providerVariables = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'OLLAMA_BASE_URL',
];

const localEnding = 'Press Ctrl-C to stop. Data is kept in .parley; "npx parley clean" deletes it.';
const localSteps = [
  ['Create a project of your own and follow docs/tutorials:', 'npx parley init ~/my-agents'],
  ['See all log lines; requests are also shown here:', 'npx parley logs -f'],
];

/**
 * Prints the address, the key, a first request and what to do next once all services are ready.
 * Also used by docker/demo.mjs.
 */
export function printBanner({
  gatewayPort,
  key,
  demoPage,
  adminLink,
  startedAt,
  standInsUrl,
  startCommand = 'npm start',
  ending = localEnding,
  steps = localSteps,
}) {
  const url = `http://localhost:${gatewayPort}`;
  const configured = providerVariables.some(
    (name) => process.env[name] || process.env[`${name}_FILE`],
  );
  const message = configured
    ? 'Which products do you have?'
    : '/tool entity.query {"type":"product","limit":1}';
  print();
  print(
    bold(
      startedAt === undefined
        ? 'Parley is ready'
        : `Parley is ready in ${seconds(Date.now() - startedAt)}`,
    ),
  );
  print();
  print(`  Gateway  ${bold(url)}`);
  print(`  Console  ${bold(`${url}/console/`)}`);
  print(`  Docs     ${bold(`${url}/docs`)}`);
  print(`  Key      ${bold(key)}`);
  if (demoPage) print(`  Chat     ${bold(demoPage)}`);
  if (adminLink) print(`  First administrator, once within 30 minutes  ${bold(adminLink)}`);
  if (standInsUrl) print(`  Simulated payments, WhatsApp and e-mails  ${bold(standInsUrl)}`);
  print();
  print('  Send a message to the demo agent from another terminal:');
  print();
  print(`curl -s ${url}/v1/agents/shop-assistant/chat \\`);
  print(`  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`);
  print(`  -d '${JSON.stringify({ message })}'`);
  print();
  for (const [purpose, command] of steps) print(`  ${purpose}\n    ${bold(command)}`);
  if (steps.length > 0) print();
  if (!configured) {
    print(
      '  No model provider is configured, so the built-in scripted model answers. To use a provider:',
    );
    print(
      `    OPENAI_API_KEY=… ${startCommand}${startCommand === 'npm start' ? '   # or in .env of this folder' : ''}`,
    );
    print(
      '  ANTHROPIC_API_KEY, GOOGLE_API_KEY, OLLAMA_BASE_URL and OPENAI_BASE_URL (compatible servers) work too.',
    );
  }
  print(dim(`  ${ending}`));
  print();
}
