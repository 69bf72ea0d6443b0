import { ownValue } from '@parley/rows';
import { formatExact, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Actor, type Entry } from './entry';
import { auditLogCatalog } from './texts';
import { TextLink } from '../../parts/link';

export function EntryDetails({ entry }: { entry: Entry }) {
  const texts = useTexts(auditLogCatalog);
  const { nav } = useTexts();
  const { action, actor, address, environment, target, requestId, createdAt } = entry;
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.when, formatExact(createdAt)],
          [texts.action, <code className="font-mono text-xs">{action}</code>],
          [
            texts.who,
            <>
              <Actor of={entry} />
              {actor.type === 'command' && (
                <span className="block text-n10">{texts.commandHint}</span>
              )}
            </>,
          ],
          [
            texts.actorId,
            actor.id && (
              <WithFilter id={actor.id} search={{ actor: actor.id }} text={texts.onlyActor} />
            ),
          ],
          [texts.where, address && <CopyText text={address} />],
          [texts.environment, environment === null ? texts.everywhere : nav[environment]],
          [
            texts.target,
            target && (
              <>
                {target.type}{' '}
                <WithFilter id={target.id} search={{ target: target.id }} text={texts.onlyTarget} />
              </>
            ),
          ],
          [texts.request, requestId && <CopyText text={requestId} />],
        ]}
      />
      <Changes entry={entry} />
    </div>
  );
}

function WithFilter({
  id,
  search,
  text,
}: {
  id: string;
  search: { actor?: string; target?: string };
  text: string;
}) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-x-3">
      <CopyText text={id} />
      <TextLink to="audit-log" search={search}>
        {text}
      </TextLink>
    </span>
  );
}

/** The fields before and after, as texts. */
function Changes({ entry: { before, after } }: { entry: Entry }) {
  const texts = useTexts(auditLogCatalog);
  const { states } = useTexts();
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (fields.length === 0) return <p className="text-n11">{texts.noChanges}</p>;
  const textOf = (value: unknown) =>
    value === undefined
      ? states.noValue
      : typeof value === 'string'
        ? value
        : JSON.stringify(value);
  const cell = 'py-1.5 pr-3 align-top';
  return (
    <table className="w-full">
      <caption className="sr-only">{texts.changes}</caption>
      <thead className="border-b border-n5 text-left text-xs text-n11">
        <tr>
          <th className={`${cell} font-normal`}>{texts.field}</th>
          {before !== null && <th className={`${cell} font-normal`}>{texts.before}</th>}
          {after !== null && <th className={`${cell} font-normal`}>{texts.after}</th>}
        </tr>
      </thead>
      <tbody className="divide-y divide-n4 font-mono text-xs">
        {fields.map((field) => (
          <tr key={field}>
            <th className={`${cell} text-left font-normal text-n11`}>{field}</th>
            {before !== null && <td className={cell}>{textOf(ownValue(before, field))}</td>}
            {after !== null && <td className={cell}>{textOf(ownValue(after, field))}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
