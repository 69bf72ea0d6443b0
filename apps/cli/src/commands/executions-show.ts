import { cutsOf, formatExecution, formatPrompt } from '../conversations/format-execution';
import { type KeyOptions, withManage } from '../manage';
import { print, printJson } from '../terminal';

/** `parley executions show <id>`: prints the steps of an execution. */
export async function runExecutionsShow(
  id: string,
  { full, prompt, json, ...options }: KeyOptions & { full?: boolean; prompt?: boolean },
): Promise<void> {
  const execution = await withManage(options, (manage) => manage.getExecution({ id }));
  if (json) return printJson(execution);
  print(formatExecution(execution, cutsOf(full)));
  if (prompt) print(`\n${formatPrompt(execution)}`);
}
