import { apiAddress, findStack, readLogin, readVariable } from '../environment';
import { type Finding, ask, reasonOf } from './finding';

/** The gateway's address, without the errors of apiAddress, which checkKey reports. */
function gatewayUrl(): string | undefined {
  return (readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl ?? readLogin()?.url)?.replace(
    /\/+$/,
    '',
  );
}

export async function checkGateway(): Promise<Finding[]> {
  const name = 'Gateway';
  const url = gatewayUrl();
  if (url === undefined) {
    return [
      {
        name,
        state: 'failed',
        detail: 'PARLEY_URL is not set',
        fix: 'Set PARLEY_URL in the environment or in .env, or run npm start in a checkout of Parley',
      },
    ];
  }
  try {
    const { response, tookMs } = await ask(`${url}/health`);
    if (response.ok) return [{ name, state: 'ok', detail: `${url} responded in ${tookMs} ms` }];
    return [
      {
        name,
        state: 'failed',
        detail: `${url}/health returned ${response.status}`,
        fix: 'Set PARLEY_URL to the address of the gateway',
      },
    ];
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: `cannot connect to ${url}: ${reasonOf(error)}`,
        fix: 'Start Parley (npm start), or correct PARLEY_URL',
      },
    ];
  }
}

export async function checkKey(): Promise<Finding[]> {
  const name = 'API key';
  let address: { url: string; key: string };
  try {
    address = apiAddress();
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: (error as Error).message,
        fix: "parley keys create --env development --permissions '*,manage' --name me",
      },
    ];
  }
  const { url, key } = address;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const probes = [
    ['data', 'GET', '/v1/entity-types'],
    ['sync', 'POST', '/v1/sync/state'],
    ['chat', 'POST', '/v1/chat'],
    ['manage', 'GET', '/v1/organization'],
  ] as const;
  try {
    const granted: string[] = [];
    for (const [permission, method, path] of probes) {
      // Chat checks the permission (403) before the body, and refuses an empty body with 400.
      const { response } = await ask(url + path, {
        method,
        headers,
        ...(method === 'POST' && { body: '{}' }),
      });
      if (response.status === 401)
        return [
          {
            name,
            state: 'failed',
            detail: 'the key is unknown, revoked or expired',
            fix: "parley keys create --env development --permissions '*,manage' --name me",
          },
        ];
      if (response.status === 503)
        return [
          {
            name,
            state: 'failed',
            detail: `${path} returned 503`,
            fix: `Read the logs of the ${permission === 'sync' ? 'data' : permission} service`,
          },
        ];
      if (response.status !== 403) granted.push(permission);
    }
    const environment = key.startsWith('sk_prod_') ? 'production' : 'development';
    if (granted.includes('sync'))
      return [{ name, state: 'ok', detail: `${environment}, permissions: ${granted.join(', ')}` }];
    return [
      {
        name,
        state: 'warning',
        detail: `${environment}, permissions: ${granted.join(', ') || 'none'}`,
        fix: 'Use a key with the sync permission for push, diff, dev and run-tool',
      },
    ];
  } catch (error) {
    return [{ name, state: 'skipped', detail: `cannot connect to ${url}: ${reasonOf(error)}` }];
  }
}

/**
 * The services of the stack that runs from this checkout; none when PARLEY_URL names another one.
 */
function stackServices(): [name: string, service: { internalPort?: number }][] {
  const stack = findStack();
  return stack === null || gatewayUrl() !== stack.gatewayUrl.replace(/\/+$/, '')
    ? []
    : Object.entries(stack.services ?? {});
}

interface Settings {
  /** Names of the variables that have a value. */
  settings: string[];
  node: string;
  nowMs: number;
}

/**
 * Asks a service what it was started with. The time of its answer is compared with the
 * middle of the request.
 */
async function readSettings(internalPort: number): Promise<Settings & { skewMs: number }> {
  const startedAtMs = Date.now();
  const { response } = await ask(`http://127.0.0.1:${internalPort}/settings`);
  const found = (await response.json()) as Settings;
  return { ...found, skewMs: Math.round(found.nowMs - (startedAtMs + Date.now()) / 2) };
}

const modelProviders = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'OLLAMA_BASE_URL',
];

/**
 * Reads from the services that call models which providers they have. The variables of this shell
 * say nothing about that: a service may have been started elsewhere.
 */
export async function checkModels(): Promise<Finding[]> {
  const name = 'Model providers';
  const asked = stackServices().filter(([service]) => service === 'chat' || service === 'worker');
  const findings: Finding[] = [];
  for (const [service, { internalPort }] of asked) {
    if (internalPort === undefined) continue;
    try {
      const { settings } = await readSettings(internalPort);
      const set = modelProviders.filter((variable) => settings.includes(variable));
      findings.push(
        set.length > 0
          ? { name, state: 'ok', detail: `${service} has ${set.join(', ')}` }
          : {
              name,
              state: 'warning',
              detail: `${service} has none. Without one, the offline/scripted model answers`,
              fix: `Set one of ${modelProviders.join(', ')}, and start Parley again`,
            },
      );
    } catch (error) {
      findings.push({
        name,
        state: 'skipped',
        detail: `${service} cannot be asked: ${reasonOf(error)}`,
      });
    }
  }
  if (findings.length > 0) return findings;
  return [
    {
      name,
      state: 'skipped',
      detail: 'only the services of npm start in this checkout can be asked',
    },
  ];
}

const maxSkewMs = 5_000;

/** Reads the readiness of each service of a stack that runs from this checkout. */
export async function checkServices(): Promise<Finding[]> {
  const services = stackServices();
  const findings: Finding[] = [];
  for (const [name, { internalPort }] of services) {
    if (internalPort === undefined) continue;
    try {
      const { response } = await ask(`http://127.0.0.1:${internalPort}/readyz`);
      const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
      const broken = Object.entries(checks).filter(([, state]) => state !== 'ok');
      const { node, skewMs } = await readSettings(internalPort);
      if (Math.abs(skewMs) > maxSkewMs)
        findings.push({
          name: `Service ${name}`,
          state: 'warning',
          detail: `its clock differs from this one by ${Math.round(skewMs / 1_000)} s`,
          fix: 'Synchronize the clocks: signatures of webhooks are valid for 5 minutes',
        });
      findings.push(
        response.ok
          ? { name: `Service ${name}`, state: 'ok', detail: `ready, Node.js ${node}` }
          : {
              name: `Service ${name}`,
              state: 'failed',
              detail: broken.map(([what, why]) => `${what}: ${why}`).join('; '),
              fix: 'Fix these dependencies; the service becomes ready without a restart',
            },
      );
    } catch (error) {
      findings.push({
        name: `Service ${name}`,
        state: 'failed',
        detail: `cannot connect: ${reasonOf(error)}`,
        fix: 'Read its log in the output of npm start',
      });
    }
  }
  return findings;
}
