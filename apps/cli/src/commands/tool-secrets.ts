import { isCancel, password } from '@clack/prompts';
import type { ToolSecretChange, ToolSecretList } from '@parley/contracts';
import { createApi } from '../api';
import { Failure, usageFailure } from '../failure';
import { secretOf } from '../secrets';
import { canAsk, formatTable, formatTime, note, print, printJson } from '../terminal';

interface Options {
  json?: boolean;
}

/** `parley tool-secrets set NAME [-]`: sets a secret of the key's environment. */
export async function runSet(name: string, source: string | undefined, { json }: Options): Promise<void> {
  const changed = await createApi().post<ToolSecretChange>('/v1/tool-secrets', {
    name,
    value: await readValue(name, source),
  });
  if (json) return printJson(changed);
  print(`Set ${name}. Every call of a tool from now on uses it.`);
}

/** The value is never an argument, because arguments remain in the shell's history and other users see them. */
async function readValue(name: string, source: string | undefined): Promise<string> {
  const how = `printf %s "$VALUE" | parley tool-secrets set ${name} -`;
  if (source !== undefined && source !== '-')
    throw usageFailure(`A secret is not accepted as an argument. Pass it on standard input: ${how}`);
  if (source === '-') {
    const value = await secretOf(source);
    if (value === '') throw usageFailure('Standard input has no value');
    return value;
  }
  if (!canAsk()) throw usageFailure(`Cannot ask for the value without a terminal. Pass it on standard input: ${how}`);
  const value = await password({ message: `Value of ${name}`, output: process.stderr });
  if (isCancel(value) || !value) throw new Failure('Nothing was set');
  return value;
}

/** `parley tool-secrets list`: prints the names of secrets, when they were set, and the tools that declare them. */
export async function runList({ json }: Options): Promise<void> {
  const { data } = await createApi().get<ToolSecretList>('/v1/tool-secrets');
  if (json) return printJson({ secrets: data });
  if (data.length === 0) return note('No secrets are set, and no tool declares one');
  const rows = data.map(({ name, setAt, tools }) => [
    name,
    setAt === null ? 'not set' : formatTime(new Date(setAt)),
    tools.length === 0 ? '-' : tools.join(', '),
  ]);
  print(formatTable(['NAME', 'SET', 'TOOLS'], rows));
}

/** `parley tool-secrets delete NAME`: deletes a secret of the key's environment. */
export async function runDelete(name: string, { json }: Options): Promise<void> {
  await createApi().remove(`/v1/tool-secrets/${encodeURIComponent(name)}`);
  if (json) return printJson({ name, deleted: true });
  print(`Deleted ${name}.`);
}
