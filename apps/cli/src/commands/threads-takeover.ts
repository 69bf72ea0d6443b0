import { type KeyOptions, withManage } from '../manage';
import { print, printJson } from '../terminal';

/** `parley threads takeover|resume <threadId|externalId>`: starts or ends a takeover. */
export async function runThreadsTakeover(name: string, takenOver: boolean, options: KeyOptions): Promise<void> {
  const result = await withManage(options, (manage) =>
    takenOver ? manage.takeOverThread({ id: name }) : manage.resumeThread({ id: name }),
  );
  if (options.json) return printJson(result);
  const { id, changed } = result;
  if (takenOver)
    print(`${changed ? `Took over ${id}` : `${id} was already taken over`}: messages are stored and not answered.`);
  else print(`${changed ? `Resumed ${id}` : `${id} was not taken over`}: the agent answers messages.`);
}
