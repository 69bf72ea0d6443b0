import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useLanguage, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { BackLink, DetailScreen } from '../../parts/detail-screen';
import { linkTo } from '../../parts/link';
import { OpenItem } from '../../parts/open-item';
import { Problem } from '../../parts/states';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import { BulkActions, RetryProgress } from './bulk-runs';
import { Definition } from './definition';
import { FireDialog } from './fire-dialog';
import { type Trigger, useTriggers } from './queries';
import { RunList } from './run-list';
import { triggersCatalog } from './texts';
import { TriggerState } from './triggers';
import { startInWords } from './words';

const route = getRouteApi('/$organization/$environment/triggers/$slug');

export function TriggerScreen() {
  const { slug } = route.useParams();
  return (
    <OpenItem
      list={useTriggers()}
      is={(trigger) => trigger.slug === slug}
      back={linkTo({ to: 'triggers' })}
    >
      {(trigger) => <Known key={slug} trigger={trigger} />}
    </OpenItem>
  );
}

function Known({ trigger }: { trigger: Trigger }) {
  const triggers = useTexts(triggersCatalog);
  const { slug, name } = trigger;
  const { status, tab } = route.useSearch();
  const navigate = route.useNavigate();
  const back = linkTo({ to: 'triggers' });
  const to = 'triggers/$slug';
  const above = (
    <>
      <About trigger={trigger} />
      <ViewTabs
        label={triggers.views}
        views={[
          [triggers.runs, linkTo({ to, params: { slug } }), tab !== 'definition'],
          [
            triggers.definition,
            linkTo({ to, params: { slug }, search: { tab: 'definition' } }),
            tab === 'definition',
          ],
        ]}
      >
        {tab !== 'definition' && <BulkActions trigger={trigger} />}
      </ViewTabs>
      <RetryProgress slug={slug} />
    </>
  );
  if (tab === 'definition')
    return (
      <DetailScreen title={name} back={back} backTitle={triggers.title}>
        {above}
        <Definition slug={slug} />
      </DetailScreen>
    );
  return (
    <RunList
      title={name}
      before={<BackLink to={back} title={triggers.title} />}
      above={above}
      trigger={slug}
      status={status}
      onFilter={(filter) => void navigate({ search: { status: filter.status }, replace: true })}
    />
  );
}

/** What starts it and when, and what can be done with it. */
function About({ trigger }: { trigger: Trigger }) {
  const triggers = useTexts(triggersCatalog);
  const language = useLanguage();
  const { environment, isAdmin } = useWorkspace();
  const [isFiring, setFiring] = useState(false);
  // The server refuses it to members in production.
  const mayFire = isAdmin || environment === 'development';
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-2 border-b border-n5 px-4 py-2">
      <TriggerState trigger={trigger} />
      <p className="min-w-0">{startInWords(trigger.on, triggers, language)}</p>
      {trigger.nextTickAt !== null && (
        <p className="text-n11">
          {triggers.next}: <Ago at={trigger.nextTickAt} />
        </p>
      )}
      <span className="ml-auto flex flex-wrap gap-2">
        <Switch trigger={trigger} />
        {mayFire && <Button onClick={() => setFiring(true)}>{triggers.fire}</Button>}
      </span>
      {isFiring && <FireDialog trigger={trigger} onClose={() => setFiring(false)} />}
    </div>
  );
}

function Switch({ trigger: { slug, enabled, runs } }: { trigger: Trigger }) {
  const triggers = useTexts(triggersCatalog);
  const { api } = useWorkspace();
  const enable = useChange(() => api.enableTrigger({ slug }), 'triggers');
  const disable = useChange(() => api.disableTrigger({ slug }), 'triggers');
  if (!enabled)
    return (
      <>
        <Problem error={enable.error} />
        <Button isBusy={enable.isPending} onClick={() => enable.mutate()}>
          {triggers.enable}
        </Button>
      </>
    );
  return (
    <ConfirmButton
      action={triggers.disable}
      question={triggers.disableQuestion(runs.scheduled ?? 0)}
      name={slug}
      buttonLook="plain"
      change={disable}
    />
  );
}
