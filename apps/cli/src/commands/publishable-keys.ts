import { iterate } from '@parley/client/manage';
import { usageFailure } from '../failure';
import { type KeyOptions, type ListOptions, printList, withManage } from '../manage';
import { note, print, printJson } from '../terminal';

export interface PublishableKeyOptions extends KeyOptions {
  name: string;
  origins: string;
  agent?: string;
  router?: string;
  perVisitor?: number;
  perAddress?: number;
  perKey?: number;
}

/**
 * `parley publishable-keys create`: prints the key on stdout, and the identity secret, which cannot
 * be shown again, on stderr.
 */
export async function runPublishableKeysCreate({
  name,
  origins,
  agent,
  router,
  perVisitor,
  perAddress,
  perKey,
  json,
  ...options
}: PublishableKeyOptions): Promise<void> {
  if ((agent === undefined) === (router === undefined))
    throw usageFailure('Name either --agent or --router');
  const listed = origins.split(',').map((origin) => origin.trim());
  const made = await withManage(options, (manage) =>
    manage.createPublishableKey({
      name,
      origins: listed,
      agentSlug: agent,
      routerSlug: router,
      limits: { perVisitor, perAddress, perKey },
    }),
  );
  if (json) return printJson(made);
  note(`Created publishable key ${made.id} for ${listed.join(', ')}.`);
  note(`Identity secret, for your server only. It cannot be shown again: ${made.identitySecret}`);
  print(made.key);
}

/** `parley publishable-keys list`: prints the publishable keys of an environment, newest first. */
export const runPublishableKeysList = (options: ListOptions): Promise<void> =>
  printList(options, {
    items: 'publishable keys',
    read: (manage) => manage.listPublishableKeys,
    columns: {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      KEY: ({ key }) => key,
      ANSWERS: ({ agentSlug, routerSlug }) => agentSlug ?? `router ${routerSlug}`,
      ORIGINS: ({ origins }) => origins.join(','),
      STATUS: ({ revokedAt }) =>
        revokedAt === null ? 'active' : `revoked ${new Date(revokedAt).toISOString().slice(0, 10)}`,
    },
  });

/**
 * `parley publishable-keys revoke <key>`: all processes refuse the key and its sessions
 * within a second.
 */
export async function runPublishableKeysRevoke(
  given: string,
  { json, ...options }: KeyOptions,
): Promise<void> {
  const id = await withManage(options, async (manage) => {
    const known = given.startsWith('pk_') ? iterate(manage.listPublishableKeys) : [];
    let found = given;
    for await (const one of known) if (one.key === given) found = one.id;
    await manage.revokePublishableKey({ id: found });
    return found;
  });
  if (json) return printJson({ id, revoked: true });
  print(`Revoked publishable key ${id}.`);
}
