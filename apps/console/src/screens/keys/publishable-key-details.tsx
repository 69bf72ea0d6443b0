import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, formatNumber, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { KeyStatus, type PublishableKey } from './key-parts';
import { keysCatalog } from './texts';

export function PublishableKeyDetails({ item }: { item: PublishableKey }) {
  const texts = useTexts(keysCatalog);
  const { api } = useWorkspace();
  const { limits } = item;
  const revoke = useChange(() => api.revokePublishableKey({ id: item.id }), 'publishable-keys');
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.id, <CopyText text={item.id} />],
          [texts.publishableKey, <CopyText text={item.key} />],
          [texts.status, <KeyStatus of={item} />],
          [texts.agent, item.agentSlug],
          [texts.router, item.routerSlug],
          [texts.origins, item.origins.map((origin) => <div key={origin}>{origin}</div>)],
          [`${texts.limits}: ${texts.perVisitor}`, formatNumber(limits.perVisitor)],
          [texts.perAddress, formatNumber(limits.perAddress)],
          [texts.perKey, formatNumber(limits.perKey)],
          [texts.created, formatExact(item.createdAt)],
          [texts.revoked, item.revokedAt !== null && formatExact(item.revokedAt)],
        ]}
      />
      {item.revokedAt === null && <Snippet of={item} />}
      <div className="flex flex-wrap items-center gap-2">
        <ChangesLink target={item.id} />
        {item.revokedAt === null && (
          <ConfirmButton
            action={texts.revoke}
            question={texts.revokePublishable(item.name, item.origins.length)}
            name={item.name}
            className="ml-auto"
            change={revoke}
          />
        )}
      </div>
    </div>
  );
}

/** What a page needs for the chat, and the page of the gateway that has it. */
export function Snippet({ of: { key, origins } }: { of: PublishableKey }) {
  const texts = useTexts(keysCatalog);
  const { origin } = location;
  return (
    <>
      <Json
        label={texts.snippet}
        value={`<script src="${origin}/widget/v1.js" defer></script>\n<parley-chat publishable-key="${key}"></parley-chat>`}
      />
      {origins.includes(origin) && (
        <a
          href={`/widget/demo?key=${key}`}
          target="_blank"
          rel="noopener"
          className="tap inline-flex items-center text-accent underline"
        >
          {texts.demo}
        </a>
      )}
    </>
  );
}
