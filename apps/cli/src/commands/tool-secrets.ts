import type { ToolSecretChange, ToolSecretList } from '@parley/contracts';
import { createApi } from '../api';
import { askSecret } from '../secrets';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

interface Options {
  json?: boolean;
}

/** `parley tool-secrets set NAME [-]`: sets a secret of the key's environment. */
export async function runSet(
  name: string,
  source: string | undefined,
  { json }: Options,
): Promise<void> {
  const usage = `printf %s "$VALUE" | parley tool-secrets set ${name} -`;
  const value = await askSecret(source, `Value of ${name}`, usage);
  const changed = await createApi().post<ToolSecretChange>('/v1/tool-secrets', { name, value });
  if (json) return printJson(changed);
  print(`Set ${name}. Every call of a tool from now on uses it.`);
}

/**
 * `parley tool-secrets list`: prints the names of secrets, when they were set, and the tools
 * that declare them.
 */
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
