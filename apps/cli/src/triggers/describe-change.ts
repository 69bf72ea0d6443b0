import { Failure } from '../failure';
import type { ScopeOptions } from '../scope';
import { note, print, printJson } from '../terminal';

export interface ChangeOptions extends ScopeOptions {
  json?: boolean;
}

/** Says which runs were changed; a Failure when none was. */
export function printChanged(
  changed: { id: string }[],
  { verb, none, json }: { verb: string; none: string; json: boolean | undefined },
): void {
  if (changed.length === 0) throw new Failure(none);
  if (json) return printJson({ runs: changed });
  for (const { id } of changed) print(id);
  note(`${verb} ${changed.length} run${changed.length === 1 ? '' : 's'}`);
}
