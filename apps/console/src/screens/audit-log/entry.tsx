import type { ResultOf } from '@parley/client/manage';
import { useTexts } from '../../i18n';
import { auditLogCatalog } from './texts';

export type Entry = ResultOf<'listAuditLog'>['data'][number];

export function Actor({ of: { actor } }: { of: Entry }) {
  const { actors } = useTexts(auditLogCatalog);
  if (actor.name === null) return <>{actors[actor.type]}</>;
  return (
    <>
      {actor.name}{' '}
      {actor.type !== 'person' && <span className="text-n10">· {actors[actor.type]}</span>}
    </>
  );
}
