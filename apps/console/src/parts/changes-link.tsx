import { Link } from '@tanstack/react-router';
import { usePlace } from '../frame/workspace';
import { useTexts } from '../i18n';

/** Leads to the entries of the audit log about one thing. */
export function ChangesLink({ target }: { target: string }) {
  const { nav } = useTexts();
  return (
    <Link
      to="/$organization/$environment/audit-log"
      params={usePlace()}
      search={{ target }}
      className="tap inline-flex items-center text-accent underline"
    >
      {nav.changes}
    </Link>
  );
}
