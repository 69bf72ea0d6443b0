import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleUser } from 'lucide-react';
import { meQuery } from '../api/session';
import { useTexts } from '../i18n';
import { usePlace } from './workspace';

/** Leads to what belongs to the signed-in person. */
export function Account({ onOpen }: { onOpen?: () => void }) {
  const { nav } = useTexts();
  const { data: me } = useQuery(meQuery);
  return (
    <Link
      to="/$organization/$environment/account"
      params={usePlace()}
      search={{}}
      onClick={onOpen}
      title={nav.account}
      activeProps={{ className: 'bg-n4 font-medium' }}
      inactiveProps={{ className: 'text-n11 hover:bg-n4' }}
      className="tap flex h-8 w-full min-w-0 items-center gap-2 rounded px-2"
    >
      <CircleUser aria-hidden size={16} strokeWidth={1.75} className="shrink-0" />
      <span className="truncate">{me?.person.name ?? me?.person.email ?? nav.account}</span>
    </Link>
  );
}
