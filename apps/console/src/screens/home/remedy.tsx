import type { ResultOf } from '@parley/client/manage';
import { type LinkProps, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Link, base, linkTo } from '../../parts/link';
import { Problem as Refusal } from '../../parts/states';
import { ReconcileReport, useReconcile } from '../payments/reconcile';
import { ReplayAll } from '../webhooks/replay-all';
import { ProblemMessages } from './problem-messages';
import { RetryDeadRuns } from './retry-dead-runs';
import { homeCatalog } from './texts';

/** A problem of the health report. */
export type Problem = ResultOf<'getHealthReport'>['problems'][number];

/** Where a problem is shown, and the button that fixes it. */
export function Remedy({ problem }: { problem: Problem }) {
  const home = useTexts(homeCatalog);
  const { isAdmin } = useWorkspace();
  const links = useLinks(problem);
  const isForAdmins =
    problem.kind === 'disabled_integrations' || problem.kind === 'unreadable_integrations';
  if (isForAdmins && !isAdmin) return <p className="text-n11">{home.forAdmin}</p>;
  return (
    <>
      {links.map(([text, to]) => (
        <Link
          key={text}
          {...to}
          className="tap inline-flex h-8 items-center rounded border border-n7 bg-n1 px-2.5 hover:bg-n3"
        >
          {text}
        </Link>
      ))}
      <Fix problem={problem} />
    </>
  );
}

function useLinks({ kind, names }: Problem): readonly (readonly [string, LinkProps])[] {
  const { show } = useTexts(homeCatalog);
  switch (kind) {
    case 'dead_trigger_runs': {
      const search = { view: 'runs', status: 'dead' };
      return [[show.runs, linkTo({ to: 'triggers', search })]];
    }
    case 'failed_webhook_deliveries':
      return [[show.deliveries, linkTo({ to: 'webhooks', search: { status: 'failed' } })]];
    case 'unattributed_webhook_deliveries':
      return [[show.deliveries, linkTo({ to: 'webhooks', search: { status: 'unattributed' } })]];
    case 'failed_emails':
      return [
        [show.failedEmails, linkTo({ to: 'emails', search: { status: 'failed' } })],
        [show.bouncedEmails, linkTo({ to: 'emails', search: { status: 'bounced' } })],
      ];
    case 'unknown_emails':
      return [[show.emails, linkTo({ to: 'emails', search: { status: 'unknown' } })]];
    case 'stalled_executions':
      return [[show.executions, linkTo({ to: 'executions', search: { status: 'stalled' } })]];
    case 'interrupted_payments':
      return [[show.payments, linkTo({ to: 'payments', search: { status: 'draft' } })]];
    case 'unregistered_connections':
      return [[show.channels, linkTo({ to: 'channels' })]];
    case 'disabled_integrations':
    case 'unreadable_integrations': {
      const search = { open: names.length === 1 ? names[0] : undefined };
      return [[show.integrations, linkTo({ to: 'integrations', search })]];
    }
    default:
      return [];
  }
}

function Fix({ problem: { kind, names } }: { problem: Problem }): ReactNode {
  switch (kind) {
    case 'dead_trigger_runs':
      return <RetryDeadRuns />;
    case 'failed_webhook_deliveries':
      return <ReplayFailed />;
    case 'failed_messages':
      return <ProblemMessages status="failed" />;
    case 'unknown_messages':
      return <ProblemMessages status="unknown" />;
    case 'interrupted_payments':
      return <Reconcile />;
    case 'disabled_integrations':
      return names.map((provider) => <Enable key={provider} provider={provider} />);
    default:
      return null;
  }
}

/** The progress of the replay is shown with the list. */
function ReplayFailed() {
  const navigate = useNavigate({ from: base });
  const show = (replay: string) =>
    void navigate({ to: 'webhooks', search: { status: 'failed', replay } });
  return <ReplayAll filter={{ status: 'failed' }} onStart={show} />;
}

function Reconcile() {
  const reconcile = useReconcile();
  return (
    <>
      {reconcile.button}
      <div className="order-last w-full empty:hidden">
        <ReconcileReport run={reconcile} />
      </div>
    </>
  );
}

function Enable({ provider }: { provider: string }) {
  const home = useTexts(homeCatalog);
  const { api } = useWorkspace();
  const enable = useChange(
    () => api.updateIntegration({ provider, enabled: true }),
    ...['health', 'integrations', 'integration'],
  );
  return (
    <>
      <Button isBusy={enable.isPending} onClick={() => enable.mutate()}>
        {home.enable(provider)}
      </Button>
      <Refusal error={enable.error} />
    </>
  );
}
