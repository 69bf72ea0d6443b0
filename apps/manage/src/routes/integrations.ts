import {
  type IntegrationField,
  type JsonObject,
  detailText,
  integrationFields,
  integrationProvider,
  integrationProviders,
  mergeIntegration,
} from '@parley/contracts';
import {
  type Integration,
  type Queryable,
  findIntegration,
  listIntegrations,
  lockIntegration,
  lockKey,
  removeIntegration,
  saveIntegration,
  switchIntegration,
} from '@parley/db';
import { ensurePaymentType } from '@parley/payments';
import {
  type CallerContext,
  type Handler,
  badRequest,
  conflict,
  notFound,
  shareRequests,
} from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { type IntegrationTestDeps, testIntegration } from '../test-integration';
import { msOf } from '../page';

interface Handlers {
  listIntegrations: Handler<'listIntegrations'>;
  getIntegration: Handler<'getIntegration'>;
  createIntegration: Handler<'createIntegration'>;
  updateIntegration: Handler<'updateIntegration'>;
  testIntegration: Handler<'testIntegration'>;
  removeIntegration: Handler<'removeIntegration'>;
}

export type IntegrationRouteDeps = AuditDeps & IntegrationTestDeps;

const maxIntegrations = 100;
/** Tests that a process runs at the same time, of all organizations. Each may take 15 s. */
const maxTests = 32;

export function createIntegrationHandlers({ db, box, ...deps }: IntegrationRouteDeps): Handlers {
  const shared = shareRequests({
    total: maxTests,
    code: 'too_many_tests',
    message: 'Other integrations of the organization are being tested',
  });

  /** Checks and saves settings, in the transaction of their entry in the audit log. */
  async function save(
    tx: Queryable,
    context: CallerContext,
    change: SettingsChange,
  ): Promise<Integration> {
    const { scope } = context;
    const { provider, before, settings, enabled } = change;
    const merged = mergeIntegration(provider, before, settings);
    if (!merged.ok) throw badRequest(textOf(merged), merged.problems, merged.code);
    await saveIntegration(tx, box, scope, { provider, ...merged, active: enabled });
    if (provider === 'flow') await ensurePaymentType(tx, scope);
    const after = (await findIntegration(tx, box, scope, provider))!;
    await auditOf(deps, context)(tx, {
      action: before === null ? 'integration.created' : 'integration.updated',
      target: { type: 'integration', id: provider },
      ...(before !== null && { before: masked(before) }),
      after: masked(after),
    });
    return after;
  }

  async function switchTo(
    tx: Queryable,
    context: CallerContext,
    before: Integration,
    enabled: boolean,
  ) {
    const { provider } = before;
    await switchIntegration(tx, context.scope, provider, enabled);
    await auditOf(deps, context)(tx, {
      action: enabled ? 'integration.enabled' : 'integration.disabled',
      target: { type: 'integration', id: provider },
      before: { enabled: before.active },
      after: { enabled },
    });
    return (await findIntegration(tx, box, context.scope, provider))!;
  }

  return {
    async listIntegrations(_input, { scope }) {
      const stored = new Map(
        (await listIntegrations(db, box, scope)).map((one) => [one.provider, one]),
      );
      const names = [...new Set([...integrationProviders, ...stored.keys()])].sort();
      return { data: names.map((name) => toView(name, stored.get(name) ?? null)) };
    },

    async getIntegration({ params: { provider } }, { scope }) {
      const found = await findIntegration(db, box, scope, provider);
      if (found === null) throw notConfigured(provider, scope.environment);
      return toView(provider, found);
    },

    createIntegration: ({ body: { provider, settings } }, context) =>
      db.transaction(async (tx) => {
        const { scope } = context;
        // Two requests at the same time would both find none, and count the same rows.
        await tx.query(scope, lockKey, {
          key: `parley-integrations-${scope.organizationId}-${scope.environment}`,
        });
        const stored = await listIntegrations(tx, box, scope);
        if (stored.some((one) => one.provider === provider)) {
          const message = `${provider} is already configured in ${scope.environment}. Change it with PATCH`;
          throw conflict(message, 'already_configured');
        }
        if (stored.length >= maxIntegrations) {
          const message = `An environment has at most ${maxIntegrations} integrations. Remove one first`;
          throw badRequest(message, undefined, 'too_many_integrations');
        }
        return toView(
          provider,
          await save(tx, context, { provider, before: null, settings, enabled: true }),
        );
      }),

    updateIntegration: ({ params: { provider }, body: { settings, enabled } }, context) =>
      db.transaction(async (tx) => {
        const before = await lockIntegration(tx, box, context.scope, provider);
        if (before === null) throw notConfigured(provider, context.scope.environment);
        const after =
          settings === undefined
            ? await switchTo(tx, context, before, enabled ?? before.active)
            : await save(tx, context, {
                provider,
                before,
                settings,
                enabled: enabled ?? before.active,
              });
        return toView(provider, after);
      }),

    testIntegration: shared(async ({ params: { provider } }, context) => {
      const found = await findIntegration(db, box, context.scope, provider);
      if (found === null) throw notConfigured(provider, context.scope.environment);
      const startedAtMs = performance.now();
      const result = await testIntegration({ db, box, ...deps }, found, context.signal);
      const durationMs = Math.round(performance.now() - startedAtMs);
      await auditOf(deps, context)(db, {
        action: 'integration.tested',
        target: { type: 'integration', id: provider },
        after: { ...result },
      });
      return { ...result, durationMs };
    }),

    removeIntegration: ({ params: { provider } }, context) =>
      db.transaction(async (tx) => {
        const before = await lockIntegration(tx, box, context.scope, provider);
        if (before === null) throw notConfigured(provider, context.scope.environment);
        await removeIntegration(tx, context.scope, provider);
        await auditOf(deps, context)(tx, {
          action: 'integration.removed',
          target: { type: 'integration', id: provider },
          before: masked(before),
        });
        return { success: true };
      }),
  };
}

interface SettingsChange {
  provider: string;
  before: Integration | null;
  settings: Parameters<typeof mergeIntegration>[2];
  enabled: boolean;
}

const notConfigured = (provider: string, environment: string) =>
  notFound(`${provider} is not configured in ${environment}`, 'integration_not_found');

type Refused = Extract<ReturnType<typeof mergeIntegration>, { ok: false }>;

function textOf({ code, problems }: Refused): string {
  const [first = { path: '', message: 'The settings are not valid' }] = problems;
  return code === 'unknown_provider' ? first.message : detailText(first);
}

function toView(provider: string, stored: Integration | null) {
  // A row may have a provider of another version of the product.
  const { kind, required, optional } = integrationProvider(provider) ?? {
    kind: 'models',
    required: [],
    optional: [],
  };
  const values = stored === null ? {} : masked(stored);
  const toField = (name: IntegrationField) => {
    const { isSecret, description } = integrationFields[name];
    const value = (values[name] ?? null) as string | Record<string, string> | null;
    return { name, isRequired: required.includes(name), isSecret, description, value };
  };
  return {
    provider,
    kind,
    isConfigured: stored !== null,
    enabled: stored?.active ?? false,
    isReadable: stored?.secrets !== null,
    fields: [...required, ...optional].map(toField),
    updatedAt: stored === null ? null : msOf(stored.updatedAt),
  };
}

/** The settings with secrets masked. */
function masked({ config, secrets, active }: Integration): JsonObject {
  const maskedSecrets = Object.entries(secrets ?? {}).map(
    ([name, value]) => [name, mask(value)] as const,
  );
  return { enabled: active, ...config, ...Object.fromEntries(maskedSecrets) };
}

/** Shows the last four characters of a secret whose others are enough to be secret. */
function mask(value: unknown): string | Record<string, string> {
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.keys(value).map((name) => [name, mask((value as JsonObject)[name])] as const),
    ) as Record<string, string>;
  return typeof value === 'string' && value.length >= 12 ? `••••${value.slice(-4)}` : '••••';
}
