import { Failure } from '../failure';
import { type KeyOptions, changeEach, withManage } from '../manage';
import { note, print, printJson } from '../terminal';

/**
 * `parley triggers retry|cancel <run...>`: retries or cancels runs by their ids, or those of a
 * trigger by its slug.
 */
export async function runTriggersChange(
  verb: 'retry' | 'cancel',
  names: string[],
  { json, ...options }: KeyOptions,
): Promise<void> {
  const { results, problems } = await withManage(options, (manage) =>
    changeEach(names, async (name) => {
      if (!name.startsWith('run_'))
        return (await manage[`${verb}TriggerRuns`]({ trigger: name })).runs;
      return [(await manage[`${verb}TriggerRun`]({ id: name })).id];
    }),
  );
  const runs = results.flat();
  if (!json) for (const id of runs) print(id);
  if (problems.length > 0) throw new Failure(problems.join('\n'), undefined, { runs });
  if (json) return printJson({ runs });
  note(
    `${verb === 'retry' ? 'Retrying' : 'Cancelled'} ${runs.length} run${runs.length === 1 ? '' : 's'}`,
  );
}

/** `parley triggers enable|disable <trigger>`. */
export async function runTriggersSwitch(
  enabled: boolean,
  slug: string,
  { json, ...options }: KeyOptions,
): Promise<void> {
  const result = await withManage(options, (manage) =>
    enabled ? manage.enableTrigger({ slug }) : manage.disableTrigger({ slug }),
  );
  if (json) return printJson(result);
  print(`${slug} is ${enabled ? 'enabled' : 'disabled until it is enabled or a push changes it'}.`);
}
