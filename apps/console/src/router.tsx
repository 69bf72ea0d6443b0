import {
  type RouteComponent,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { orReload } from './api/or-reload';
import { Entrance, Start } from './frame/entrance';
import { Frame } from './frame/frame';
import { readDataSearch } from './screens/data/search';
import { Failure } from './parts/states';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined;

const loaded: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(() => load().catch(orReload), name);

const root = createRootRoute({ component: Entrance, notFoundComponent: Start });
const start = createRoute({ getParentRoute: () => root, path: '/', component: Start });

/**
 * All screens are below one organization and environment, so that a link leads everyone
 * to the same place.
 */
const workspace = createRoute({
  getParentRoute: () => root,
  path: '/$organization/$environment',
  component: Frame,
});

const home = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  validateSearch: (search): { range?: string } => ({ range: text(search.range) }),
  component: loaded(() => import('./screens/home/home'), 'Home'),
});

const conversations = createRoute({
  getParentRoute: () => workspace,
  path: '/conversations',
  validateSearch: (
    search,
  ): Partial<Record<'view' | 'q' | 'channel' | 'agent' | 'assignee' | 'label', string>> & {
    unread?: true;
    contact?: true;
  } => ({
    view: text(search.view),
    q: text(search.q),
    channel: text(search.channel),
    agent: text(search.agent),
    assignee: text(search.assignee),
    label: text(search.label),
    unread: search.unread === true || undefined,
    // The contact of the open conversation, a page of its own on phones.
    contact: search.contact === true || undefined,
  }),
  component: loaded(() => import('./screens/conversations/conversations'), 'Conversations'),
});
const conversation = createRoute({
  getParentRoute: () => conversations,
  path: '/$threadId',
  component: loaded(() => import('./screens/conversations/conversation'), 'Conversation'),
});

const executions = createRoute({
  getParentRoute: () => workspace,
  path: '/executions',
  validateSearch: (search): { agent?: string; status?: string; errors?: true } => ({
    agent: text(search.agent),
    status: text(search.status),
    errors: search.errors === true || undefined,
  }),
  component: loaded(() => import('./screens/executions/executions'), 'Executions'),
});
const execution = createRoute({
  getParentRoute: () => workspace,
  path: '/executions/$executionId',
  validateSearch: (search): { tab?: string; step?: number } => ({
    tab: text(search.tab),
    step: typeof search.step === 'number' ? search.step : undefined,
  }),
  component: loaded(() => import('./screens/executions/execution'), 'Execution'),
});

const data = createRoute({
  getParentRoute: () => workspace,
  path: '/data',
  component: loaded(() => import('./screens/data/types'), 'DataTypes'),
});
const entities = createRoute({
  getParentRoute: () => workspace,
  path: '/data/$type',
  validateSearch: readDataSearch,
  component: loaded(() => import('./screens/data/entities'), 'Entities'),
});

/**
 * The screens that only list and show: their addresses, the parameters of the address,
 * and where they are.
 */
const screen = <Path extends string, Name extends string = never>(
  path: Path,
  load: Parameters<typeof lazyRouteComponent>[0],
  name: string,
  ...parameters: Name[]
) =>
  createRoute({
    getParentRoute: () => workspace,
    path,
    validateSearch: (search: Record<string, unknown>) =>
      Object.fromEntries(parameters.map((one) => [one, text(search[one])])) as {
        [One in Name]?: string;
      },
    component: loaded(load as () => Promise<Record<string, () => ReactNode>>, name),
  });

const playground = screen(
  '/playground',
  () => import('./screens/playground/playground'),
  'Playground',
  'agent',
  'router',
  'thread',
  'turn',
  'step',
  'tab',
);
const triggers = screen(
  '/triggers',
  () => import('./screens/triggers/triggers'),
  'Triggers',
  'view',
  'status',
  'entity',
);
const trigger = screen(
  '/triggers/$slug',
  () => import('./screens/triggers/trigger'),
  'TriggerScreen',
  'status',
  'tab',
);
const triggerRun = screen(
  '/trigger-runs/$runId',
  () => import('./screens/triggers/trigger-run'),
  'TriggerRun',
);
const webhooks = screen(
  '/webhooks',
  () => import('./screens/webhooks/webhooks'),
  'Webhooks',
  'provider',
  'status',
  'since',
  'replay',
);
const webhook = screen(
  '/webhooks/$deliveryId',
  () => import('./screens/webhooks/webhook'),
  'WebhookDelivery',
);
const payments = screen(
  '/payments',
  () => import('./screens/payments/payments'),
  'Payments',
  'status',
  'view',
);
const payment = screen(
  '/payments/$paymentId',
  () => import('./screens/payments/payment'),
  'Payment',
);
const emails = screen('/emails', () => import('./screens/emails/emails'), 'Emails', 'status');
const email = screen('/emails/$emailId', () => import('./screens/emails/email'), 'Email');
const agents = screen('/agents', () => import('./screens/agents/agents'), 'Agents');
const agent = screen('/agents/$slug', () => import('./screens/agents/agent'), 'Agent', 'tab');
const routers = screen('/routers', () => import('./screens/routers/routers'), 'Routers', 'open');
const roles = screen('/roles', () => import('./screens/roles/roles'), 'Roles', 'open');
const tools = screen('/tools', () => import('./screens/tools/tools'), 'Tools', 'open', 'q', 'kind');
const keys = screen('/keys', () => import('./screens/keys/keys'), 'Keys', 'view', 'open');
const members = screen(
  '/members',
  () => import('./screens/members/members'),
  'Members',
  'view',
  'open',
);
const integrations = screen(
  '/integrations',
  () => import('./screens/integrations/integrations'),
  'Integrations',
  'open',
);
const channels = screen(
  '/channels',
  () => import('./screens/channels/channels'),
  'Channels',
  'open',
);
const toolSecrets = screen(
  '/tool-secrets',
  () => import('./screens/tool-secrets/tool-secrets'),
  'ToolSecrets',
  'open',
);
const auditLog = screen(
  '/audit-log',
  () => import('./screens/audit-log/audit-log'),
  'AuditLog',
  'action',
  'actor',
  'target',
  'since',
  'open',
);
const settings = screen('/settings', () => import('./screens/settings/settings'), 'SettingsScreen');
const account = screen('/account', () => import('./screens/account/account'), 'AccountScreen');

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    workspace.addChildren([
      home,
      conversations.addChildren([conversation]),
      executions,
      execution,
      data,
      entities,
      playground,
      triggers,
      trigger,
      triggerRun,
      webhooks,
      webhook,
      payments,
      payment,
      emails,
      email,
      agents,
      agent,
      routers,
      roles,
      tools,
      keys,
      members,
      integrations,
      channels,
      toolSecrets,
      auditLog,
      settings,
      account,
    ]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error, reset }) => (
    <Failure error={error} onRetry={() => void loadAgain().then(reset)} />
  ),
  scrollRestoration: true,
});

/** A screen whose files could not be loaded keeps its error until they are asked for again. */
async function loadAgain(): Promise<void> {
  const components = router.state.matches.map(
    ({ routeId }) => router.routesById[routeId].options.component,
  );
  await Promise.all(
    components.map((component) => (component as RouteComponent | undefined)?.preload?.()),
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
