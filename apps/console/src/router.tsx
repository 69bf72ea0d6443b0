import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { Entrance, Start } from './frame/entrance';
import { Frame } from './frame/frame';
import { readDataSearch } from './screens/data/search';
import { Failure } from './parts/states';

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

const root = createRootRoute({ component: Entrance, notFoundComponent: Start });
const start = createRoute({ getParentRoute: () => root, path: '/', component: Start });

/** All screens are below one organization and environment, so that a link leads everyone to the same place. */
const workspace = createRoute({ getParentRoute: () => root, path: '/$organization/$environment', component: Frame });

const home = createRoute({
  getParentRoute: () => workspace,
  path: '/',
  validateSearch: (search): { range?: string } => ({ range: text(search.range) }),
  component: lazyRouteComponent(() => import('./screens/home/home'), 'Home'),
});

const conversations = createRoute({
  getParentRoute: () => workspace,
  path: '/conversations',
  validateSearch: (search): { view?: string; q?: string; channel?: string; unread?: true } => ({
    view: text(search.view),
    q: text(search.q),
    channel: text(search.channel),
    unread: search.unread === true || undefined,
  }),
  component: lazyRouteComponent(() => import('./screens/conversations/conversations'), 'Conversations'),
});
const conversation = createRoute({
  getParentRoute: () => conversations,
  path: '/$threadId',
  component: lazyRouteComponent(() => import('./screens/conversations/conversation'), 'Conversation'),
});

const executions = createRoute({
  getParentRoute: () => workspace,
  path: '/executions',
  validateSearch: (search): { agent?: string; status?: string; errors?: true } => ({
    agent: text(search.agent),
    status: text(search.status),
    errors: search.errors === true || undefined,
  }),
  component: lazyRouteComponent(() => import('./screens/executions/executions'), 'Executions'),
});
const execution = createRoute({
  getParentRoute: () => workspace,
  path: '/executions/$executionId',
  validateSearch: (search): { tab?: string; step?: number } => ({
    tab: text(search.tab),
    step: typeof search.step === 'number' ? search.step : undefined,
  }),
  component: lazyRouteComponent(() => import('./screens/executions/execution'), 'Execution'),
});

const data = createRoute({
  getParentRoute: () => workspace,
  path: '/data',
  component: lazyRouteComponent(() => import('./screens/data/types'), 'DataTypes'),
});
const entities = createRoute({
  getParentRoute: () => workspace,
  path: '/data/$type',
  validateSearch: readDataSearch,
  component: lazyRouteComponent(() => import('./screens/data/entities'), 'Entities'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    workspace.addChildren([home, conversations.addChildren([conversation]), executions, execution, data, entities]),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error, reset }) => <Failure error={error} onRetry={reset} />,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
