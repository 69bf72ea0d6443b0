import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentOf } from './services.mjs';

const shared = {
  DATABASE_URL: 'postgresql://db',
  REDIS_URL: 'redis://r',
  SECRETS_KEY: 'k',
  EXECUTOR_TOKEN: 't',
};
const service = (name, more) => ({ name, port: 1, internalPort: 2, ...more });

function environment(of, user = {}) {
  const before = { ...process.env };
  Object.assign(process.env, user);
  try {
    return environmentOf(of, shared, 4000);
  } finally {
    for (const name of Object.keys(user)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

const secrets = {
  OPENAI_API_KEY: 'sk-1',
  MESSAGING_WEBHOOK_SECRET: 'whsec',
  RESEND_API_KEY_FILE: '/run/secrets/resend',
  POSTGRES_PASSWORD: 'p',
};

test('a trusted service gets the addresses of the servers and the variables of the user', () => {
  const env = environment(service('chat', { trusted: true }), {
    ...secrets,
    OLLAMA_BASE_URL: 'http://o',
  });
  assert.deepEqual({ ...env, ...shared, ...secrets, OLLAMA_BASE_URL: 'http://o' }, env);
  assert.equal(env.TOOL_EXECUTOR_URL, 'http://127.0.0.1:4004');
  assert.equal(env.PUBLIC_URL, 'http://localhost:4000');
});

test('PUBLIC_URL defaults to the address of the gateway', () => {
  assert.equal(
    environmentOf(service('chat', { trusted: true }), shared, 5600).PUBLIC_URL,
    'http://localhost:5600',
  );
  const env = environment(service('chat', { trusted: true }), {
    PUBLIC_URL: 'https://acme.example',
  });
  assert.equal(env.PUBLIC_URL, 'https://acme.example');
});

test('services that are not trusted get only the secrets that they use', () => {
  const executor = environment(
    service('tool-executor', { trusted: false, secrets: ['EXECUTOR_TOKEN'] }),
    secrets,
  );
  const gateway = environment(service('gateway', { trusted: false, secrets: [] }), secrets);
  for (const name of Object.keys({ ...secrets, ...shared })) {
    assert.equal(executor[name], name === 'EXECUTOR_TOKEN' ? 't' : undefined, name);
    assert.equal(gateway[name], undefined, name);
  }
  assert.equal(executor.CHAT_URL, 'http://127.0.0.1:4002');
});

test('variables of the stack replace NAME_FILE variables and ports of the user', () => {
  const env = environment(service('data', { trusted: true }), {
    DATABASE_URL_FILE: '/x',
    PORT: '9',
    npm_config_token: 'x',
  });
  assert.equal(env.DATABASE_URL_FILE, undefined);
  assert.equal(env.PORT, '1');
  assert.equal(env.npm_config_token, undefined);
});

test('rate limits are generous unless they are set', () => {
  const data = service('data', { trusted: true });
  assert.equal(environment(data).RATE_LIMIT_PER_KEY, '6000');
  assert.equal(environment(data, { RATE_LIMIT_PER_KEY: '7' }).RATE_LIMIT_PER_KEY, '7');
  const fromFile = environment(data, { CHAT_RATE_LIMIT_PER_KEY_FILE: '/limit' });
  assert.equal(fromFile.CHAT_RATE_LIMIT_PER_KEY, undefined);
  assert.equal(fromFile.CHAT_RATE_LIMIT_PER_KEY_FILE, '/limit');
});
