import { Failure } from '../failure';
import { note, print, printJson } from '../terminal';

/** Prints the ids of changed runs. Throws a Failure when there is none. */
export function printChangedRuns(
  changed: { id: string }[],
  { verb, none, json }: { verb: string; none: string; json: boolean | undefined },
): void {
  if (changed.length === 0) throw new Failure(none);
  if (json) return printJson({ runs: changed });
  for (const { id } of changed) print(id);
  note(`${verb} ${changed.length} run${changed.length === 1 ? '' : 's'}`);
}
