import { apiAddress, findStack, readVariable } from '../environment';
import { type Finding, ask, reasonOf } from './finding';

/** The address, when there is one; what is missing is told by whoever asks for the key. */
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
        fix: 'Set PARLEY_URL (or write .env), or run npm start in a checkout',
      },
    ];
  }
  try {
    const { response, tookMs } = await ask(`${url}/health`);
    if (response.ok) return [{ name, state: 'ok', detail: `${url} answers in ${tookMs} ms` }];
    return [
      {
        name,
        state: 'failed',
        detail: `${url}/health answers ${response.status}`,
        fix: 'PARLEY_URL must be the address of the gateway',
      },
    ];
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: `${url} does not answer: ${reasonOf(error)}`,
        fix: 'Start Parley (npm start), or fix PARLEY_URL',
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
      // An empty body is refused with 400 by chat, and with 403 before that when the key may not chat.
      const { response } = await ask(url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      if (response.status === 401)
        return [
          {
            name,
            state: 'failed',
            detail: 'it is refused: unknown, revoked or expired',
            fix: "parley keys create --env development --permissions '*' --name me",
          },
        ];
      if (response.status === 503)
        return [
          {
            name,
            state: 'failed',
            detail: `${path} answers 503`,
            fix: `See the logs of the ${permission === 'chat' ? 'chat' : 'data'} service`,
          },
        ];
      if (response.status !== 403) granted.push(permission);
    }
    const environment = key.startsWith('sk_prod_') ? 'production' : 'development';
    if (granted.includes('sync'))
      return [{ name, state: 'ok', detail: `of ${environment}, may ${granted.join(', ')}` }];
    return [
      {
        name,
        state: 'warning',
        detail: `of ${environment}, may ${granted.join(', ') || 'nothing'}`,
        fix: 'push, diff, dev and run-tool need a key with sync',
      },
    ];
  } catch (error) {
    return [{ name, state: 'skipped', detail: `${url} does not answer: ${reasonOf(error)}` }];
  }
}

/** Of a stack that runs from this checkout each service says itself whether it is ready. */
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
              fix: 'Fix what it waits for; it goes on by itself',
            },
      );
    } catch (error) {
      findings.push({
        name: `Service ${name}`,
        state: 'failed',
        detail: `does not answer: ${reasonOf(error)}`,
        fix: 'See its lines in the output of npm start',
      });
    }
  }
  return findings;
}
