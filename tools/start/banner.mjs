import { bold, dim, say, seconds } from './output.mjs';

const providerVariables = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'OLLAMA_BASE_URL',
];

const localEnding = 'Ctrl-C stops everything; data is kept in .parley. "npm start -- --fresh" begins anew.';

/** What a user needs once all is ready; also printed by the compose stack (docker/demo.mjs). */
export function printBanner({ gatewayPort, key, startedAt, startCommand = 'npm start', ending = localEnding }) {
  const url = `http://localhost:${gatewayPort}`;
  const configured = providerVariables.some((name) => process.env[name] || process.env[`${name}_FILE`]);
  const message = configured ? 'Which products do you have?' : '/tool entity.query {"type":"product"}';
  say();
  say(bold(startedAt === undefined ? 'Parley is ready' : `Parley is ready in ${seconds(Date.now() - startedAt)}`));
  say();
  say(`  Gateway  ${bold(url)}`);
  say(`  Key      ${bold(key)}`);
  say();
  say('  Ask the demo agent, from another terminal:');
  say();
  say(`curl -s ${url}/v1/agents/shop-assistant/chat \\`);
  say(`  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`);
  say(`  -d '${JSON.stringify({ message })}'`);
  say();
  if (!configured) {
    say(`  Without a model provider a scripted model answers. With one: OPENAI_API_KEY=… ${startCommand}`);
    say('  (or ANTHROPIC_API_KEY, GOOGLE_API_KEY, OLLAMA_BASE_URL, or any compatible server as OPENAI_BASE_URL).');
  }
  say(dim(`  ${ending}`));
  say();
}
