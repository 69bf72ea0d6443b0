import { bold, dim, print, seconds } from './output.mjs';

const providerVariables = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'OLLAMA_BASE_URL',
];

const localEnding = 'Press Ctrl-C to stop. Data is kept in .parley; "npm start -- --fresh" deletes it.';

/** Prints the address, the key and a first request once all services are ready. Also used by docker/demo.mjs. */
export function printBanner({ gatewayPort, key, startedAt, startCommand = 'npm start', ending = localEnding }) {
  const url = `http://localhost:${gatewayPort}`;
  const configured = providerVariables.some((name) => process.env[name] || process.env[`${name}_FILE`]);
  const message = configured ? 'Which products do you have?' : '/tool entity.query {"type":"product","limit":1}';
  print();
  print(bold(startedAt === undefined ? 'Parley is ready' : `Parley is ready in ${seconds(Date.now() - startedAt)}`));
  print();
  print(`  Gateway  ${bold(url)}`);
  print(`  Key      ${bold(key)}`);
  print();
  print('  Send a message to the demo agent from another terminal:');
  print();
  print(`curl -s ${url}/v1/agents/shop-assistant/chat \\`);
  print(`  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`);
  print(`  -d '${JSON.stringify({ message })}'`);
  print();
  if (!configured) {
    print('  No model provider is configured, so the built-in scripted model answers. To use a provider:');
    print(`    OPENAI_API_KEY=… ${startCommand}`);
    print('  ANTHROPIC_API_KEY, GOOGLE_API_KEY, OLLAMA_BASE_URL and OPENAI_BASE_URL (compatible servers) work too.');
  }
  print(dim(`  ${ending}`));
  print();
}
