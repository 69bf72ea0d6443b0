import { type FormEvent } from 'react';
import { useChange } from '../../api/use-change';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { formatDuration, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { fieldsOf } from '../../parts/form-dialog';
import { linkTo } from '../../parts/link';
import { OpenItem } from '../../parts/open-item';
import { SaveLine } from '../../parts/save-line';
import { Section } from '../../parts/section';
import { Notice, Problem } from '../../parts/states';
import { Status } from '../../parts/status';
import { IntegrationStatus, useIntegrations } from './integration-parts';
import { type Integration, providerOf } from './providers';
import { type Settings, SettingsFields, settingsOf } from './settings-fields';
import { integrationsCatalog } from './texts';

/** One provider: what it is for, its settings, a test, and how to switch it off. */
export function IntegrationScreen({ provider }: { provider: string }) {
  const texts = useTexts(integrationsCatalog);
  const back = linkTo({ to: 'integrations' });
  return (
    <OpenItem list={useIntegrations()} is={(item) => item.provider === provider} back={back}>
      {(item) => (
        <DetailScreen
          title={providerOf(provider).name}
          back={back}
          backTitle={texts.title}
          head={<IntegrationStatus of={item} />}
        >
          <div className="max-w-2xl space-y-8 p-4 md:p-6">
            <About item={item} />
            <SettingsForm item={item} />
            {item.isConfigured && <Test item={item} />}
            {item.isConfigured && <Use item={item} />}
          </div>
        </DetailScreen>
      )}
    </OpenItem>
  );
}

function About({ item: { provider, kind, isConfigured } }: { item: Integration }) {
  const texts = useTexts(integrationsCatalog);
  const { environment } = useWorkspace();
  const { name, page, variable, isSimulated } = providerOf(provider);
  const own = kind === 'mcp' ? texts.whyKind.mcp(provider) : texts.whyKind.models(provider);
  return (
    <Section title={texts.about}>
      <p>{texts.why[provider] ?? own}</p>
      {isSimulated && !isConfigured && environment === 'development' && (
        <p className="mt-1 text-n11">{texts.simulated}</p>
      )}
      <div className="mt-3">
        <Facts
          facts={[
            [
              texts.whereTitle,
              texts.where[provider] && (
                <>
                  {texts.where[provider]}{' '}
                  {page && (
                    <a
                      href={page}
                      target="_blank"
                      rel="noopener noreferrer"
                      className="text-accent underline"
                    >
                      {texts.openPage(name)}
                    </a>
                  )}
                </>
              ),
            ],
            [texts.variable, variable && texts.variableHint(variable)],
          ]}
        />
      </div>
    </Section>
  );
}

function SettingsForm({ item }: { item: Integration }) {
  const texts = useTexts(integrationsCatalog);
  const { nav } = useTexts();
  const { api, environment } = useWorkspace();
  const { provider, fields, isConfigured, isReadable } = item;
  const save = useChange(async (settings: Settings): Promise<void> => {
    if (!isConfigured) await api.createIntegration({ provider, settings });
    else if (Object.keys(settings).length > 0) await api.updateIntegration({ provider, settings });
  }, 'integrations');
  const submit = (event: FormEvent<HTMLFormElement>) =>
    save.mutate(settingsOf(fields, fieldsOf(event)));
  return (
    <Section title={texts.settings} hint={texts.settingsOf(nav[environment])}>
      <form onSubmit={submit} className="max-w-md space-y-3">
        {!isReadable && <Notice kind="failed">{texts.unreadable}</Notice>}
        <div key={item.updatedAt} className="space-y-3">
          <SettingsFields fields={fields} />
        </div>
        <SaveLine action={isConfigured ? texts.save : texts.setUp} run={save} />
      </form>
    </Section>
  );
}

function Test({ item: { provider } }: { item: Integration }) {
  const texts = useTexts(integrationsCatalog);
  const all = useTexts();
  const { api } = useWorkspace();
  const test = useChange(() => api.testIntegration({ provider }));
  const { name } = providerOf(provider);
  return (
    <Section title={texts.test} hint={texts.testHint}>
      <div className="flex flex-wrap items-center gap-3">
        <Button isBusy={test.isPending} onClick={() => test.mutate()}>
          {texts.testNow(name)}
        </Button>
        <div role="status" className="min-w-0">
          {test.data && !test.isPending && (
            <>
              <Status
                status={test.data.ok ? 'succeeded' : 'failed'}
                text={test.data.ok ? texts.testOk : texts.testFailed}
              />{' '}
              {test.data.reason}{' '}
              <span className="text-n10">· {formatDuration(test.data.durationMs, all)}</span>
            </>
          )}
        </div>
      </div>
      <Problem error={test.error} />
    </Section>
  );
}

function Use({ item: { provider, enabled } }: { item: Integration }) {
  const texts = useTexts(integrationsCatalog);
  const { nav } = useTexts();
  const { api, environment } = useWorkspace();
  const { close } = useOpen();
  const change = useChange(
    () => api.updateIntegration({ provider, enabled: !enabled }),
    'integrations',
  );
  const remove = useChange(async () => {
    await api.removeIntegration({ provider });
    close();
  }, 'integrations');
  const { name } = providerOf(provider);
  return (
    <Section title={texts.use} hint={texts.useHint}>
      <Problem error={change.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button isBusy={change.isPending} onClick={() => change.mutate()}>
          {enabled ? texts.disable : texts.enable}
        </Button>
        <ConfirmButton
          action={texts.remove}
          question={
            <>
              <p>{texts.removeQuestion(name, nav[environment])}</p>
              {provider === 'flow' && <p className="mt-2 text-n11">{texts.removeFlow}</p>}
            </>
          }
          name={provider}
          change={remove}
        />
        <span className="ml-auto">
          <ChangesLink target={provider} />
        </span>
      </div>
    </Section>
  );
}
