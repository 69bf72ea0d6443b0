import { durationMs } from '../duration';
import { usageFailure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { formatTime, print, printJson } from '../terminal';

/** `parley threads takeover <threadId|externalId>`: a person answers from now on. */
export async function runThreadsTakeover(
  thread: string,
  { for: duration, json, ...options }: KeyOptions & { for?: string },
): Promise<void> {
  const ms = duration === undefined ? 0 : durationMs(duration);
  if (ms === null)
    throw usageFailure(`--for must be a duration such as 30m or 12h, not "${duration}"`);
  const until = ms === 0 ? undefined : Date.now() + ms;
  const result = await withManage(options, (manage) =>
    manage.takeOverThread({ id: thread, until }),
  );
  if (json) return printJson(result);
  const { id, changed } = result;
  const end = until === undefined ? '' : ` The agent answers again from ${formatTime(until)} on.`;
  print(
    `${changed ? `Took over ${id}` : `${id} was already taken over`}: messages are stored and not answered.${end}`,
  );
}

/** `parley threads resume <threadId|externalId>`: the agent answers again. */
export async function runThreadsResume(
  thread: string,
  { note, json, ...options }: KeyOptions & { note?: string },
): Promise<void> {
  const result = await withManage(options, (manage) => manage.resumeThread({ id: thread, note }));
  if (json) return printJson(result);
  const { id, changed, answering } = result;
  const what = answering ? "the contact's last message now" : 'messages';
  print(`${changed ? `Resumed ${id}` : `${id} was not taken over`}: the agent answers ${what}.`);
}
