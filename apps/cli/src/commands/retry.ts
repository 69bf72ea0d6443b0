import { Failure } from '../failure';
import { type KeyOptions, changeEach, withManage } from '../manage';
import { print, printJson } from '../terminal';

/**
 * `parley messages retry` and `parley emails retry`: sends or answers again; status 1 when one of
 * them cannot be retried.
 */
export async function runRetry(
  operation: 'retryChannelMessage' | 'retryEmail',
  ids: string[],
  { anyway, json, ...options }: KeyOptions & { anyway?: true },
): Promise<void> {
  const { results: retried, problems } = await withManage(options, (manage) =>
    changeEach(ids, async (id) => ({
      id,
      retriedAs: (await manage[operation]({ id, anyway })).id,
    })),
  );
  if (!json)
    for (const { id, retriedAs } of retried)
      print(`${id} is tried again${retriedAs === id ? '' : ` as ${retriedAs}`}.`);
  if (problems.length > 0) throw new Failure(problems.join('\n'), undefined, { retried });
  if (json) printJson({ retried });
}
