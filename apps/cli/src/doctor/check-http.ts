import { apiAddress, findStack, readVariable } from '../environment';
import { type Finding, ask, reasonOf } from './finding';

/** The gateway's address, without the errors of apiAddress, which checkKey reports. */
function gatewayUrl(): string | undefined {
  return (readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl)?.replace(/\/+$/, '');
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
        fix: "parley keys create --env development --permissions '*' --name me",
      },
    ];
  }
  const { url, key } = address;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const probes = [
    ['data', 'GET', '/v1/entity-types'],
    ['sync', 'POST', '/v1/sync/state'],
    ['chat', 'POST', '/v1/chat'],
  ] as const;
  try {
    const granted: string[] = [];
    for (const [permission, method, path] of probes) {
      // Chat checks the permission (403) before the body, and refuses an empty body with 400.
      const { response } = await ask(url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      if (response.status === 401)
        return [
          {
            name,
            state: 'failed',
            detail: 'the key is unknown, revoked or expired',
            fix: "parley keys create --env development --permissions '*' --name me",
          },
        ];
      if (response.status === 503)
        return [
          {
            name,
            state: 'failed',
            detail: `${path} returned 503`,
            fix: `Read the logs of the ${permission === 'chat' ? 'chat' : 'data'} service`,
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

/** Reads the readiness of each service of a stack that runs from this checkout. */
export async function checkServices(): Promise<Finding[]> {
  const services = Object.entries(findStack()?.services ?? {});
  const findings: Finding[] = [];
  for (const [name, { internalPort }] of services) {
    if (internalPort === undefined) continue;
    try {
      const { response } = await ask(`http://127.0.0.1:${internalPort}/readyz`);
      const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
      const broken = Object.entries(checks).filter(([, state]) => state !== 'ok');
      findings.push(
        response.ok
          ? { name: `Service ${name}`, state: 'ok', detail: 'ready' }
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
