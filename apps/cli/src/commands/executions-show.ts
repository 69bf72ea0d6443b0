import { findExecution } from '@parley/agents';
import { cutsOf, formatExecution } from '../conversations/format-execution';
import { stepsOf } from '../conversations/steps';
import { Failure, usageFailure } from '../failure';
import { executionIdPattern } from '../page';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley executions show <id>`: prints the steps of an execution. */
export async function runExecutionsShow(
  id: string,
  { full, json, ...options }: ScopeOptions & { full?: boolean },
): Promise<void> {
  if (!executionIdPattern.test(id)) throw usageFailure(`The id of an execution is a number, not "${id}"`);
  const execution = await withScope(options, async (db, scope) => {
    const found = await findExecution(db, scope, id);
    if (found === null) throw new Failure(`No execution ${id} in ${scope.name}`);
    return found;
  });
  if (!json) return print(formatExecution(execution, cutsOf(full)));
  const { messages: _messages, toolCalls: _toolCalls, ...rest } = execution;
  printJson({ ...rest, steps: stepsOf(execution) });
}
