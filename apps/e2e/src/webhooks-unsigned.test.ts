import { until } from '@parley/testing';
import { createClient } from './client';
import { clerk, sample } from './deliveries';
import { startOwnStack, shared } from './stack';
import { createTenant } from './tenant';
import { openCommandLine } from './command-line';

jest.setTimeout(120_000);

const production = { NODE_ENV: 'production' };
const { IDENTITY_WEBHOOK_SECRET } = shared.webhookSecrets;
const refusal = { error: 'Invalid signature', code: 'invalid_signature' };

it.each([
  ['refused in production', production, 401, 'refuses every delivery'],
  ['accepted in development', { NODE_ENV: 'development' }, 200, 'accepts unsigned deliveries'],
  [
    'accepted where it is configured',
    { ...production, IDENTITY_WEBHOOK_UNSIGNED: 'true' },
    200,
    'accepts unsigned deliveries',
  ],
  [
    'refused where there is a secret',
    { NODE_ENV: 'development', IDENTITY_WEBHOOK_UNSIGNED: 'true', IDENTITY_WEBHOOK_SECRET },
    401,
    'accepts signed deliveries only',
  ],
])(
  'an unsigned delivery of the identity provider is %s, and this is logged at the start',
  async (_, environment, status, said) => {
    const stack = await startOwnStack({ environment, services: ['webhook-ingest'] });
    try {
      const ingest = stack.services['webhook-ingest']!;
      const answer = await createClient(ingest.url).post(clerk, sample('clerk/user.created'));
      expect(answer).toMatchObject({ status, body: status === 200 ? { received: true } : refusal });
      const { lines } = ingest;
      // Log lines are written a moment later.
      await until(() => lines.some((line) => line.includes(clerk) && line.includes(said)));
    } finally {
      await stack.stop();
    }
  },
);

it('an unsigned deletion takes effect after a day, and can be stopped with the command line', async () => {
  const environment = { ...production, IDENTITY_WEBHOOK_UNSIGNED: 'true' };
  const stack = await startOwnStack({
    environment,
    services: ['data', 'webhook-ingest', 'worker', 'gateway'],
  });
  const tenant = await createTenant({ url: stack.url, databaseUrl: stack.databaseUrl });
  const commandLine = openCommandLine({ DATABASE_URL: stack.databaseUrl, PARLEY_URL: stack.url });
  const { data } = sample('clerk/organization.deleted');
  const deliver = async (type: string, more: object = {}) => {
    const event = { ...sample(`clerk/${type}`), ...more };
    expect((await createClient(stack.url).post(clerk, event)).status).toBe(200);
    await until(async () => {
      const [row] = await tenant.query(
        "select count(*)::int as left from webhook_deliveries where status = 'received'",
      );
      return row?.left === 0;
    });
  };
  const purges = async () =>
    (
      JSON.parse(await commandLine.parley(['org', 'purges', '--json'])) as {
        purges: { slug: string; state: string; signed: boolean; runAt: string }[];
      }
    ).purges;
  try {
    await deliver('organization.created');
    const [organization] = await tenant.query(
      'select slug from organizations where external_id = $1',
      [data.id],
    );
    const slug = String(organization!.slug);
    const create = [
      'keys',
      'create',
      '--org',
      slug,
      '--env',
      'development',
      '--name',
      'e2e',
      '--permissions',
      '*',
    ];
    const client = createClient(stack.url, await commandLine.parley(create));
    await deliver('organization.deleted');
    const [purge] = await purges();
    expect(purge).toMatchObject({ slug, state: 'waiting', signed: false });
    expect(Date.parse(purge!.runAt) - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    expect((await client.get('/v1/entity-types')).status).toBe(200);

    await commandLine.parley(['org', 'purges', '--stop', slug]);
    await tenant.query("update organization_purges set run_at = now() - interval '1 minute'");
    await deliver('organization.deleted');
    expect(await purges()).toMatchObject([{ state: 'stopped' }]);

    // A later deletion waits for a day again.
    await deliver('organization.deleted', { timestamp: 1 });
    expect(await purges()).toMatchObject([{ state: 'waiting' }]);
    expect((await client.get('/v1/entity-types')).status).toBe(200);
  } finally {
    commandLine.close();
    await tenant.close();
    await stack.stop();
  }
});
