import { useTexts } from '../i18n';
import { TextLink } from './link';

/** Leads to the entries of the audit log about one thing. */
export function ChangesLink({ target }: { target: string }) {
  const { nav } = useTexts();
  return (
    <TextLink to="audit-log" search={{ target }} className="tap inline-flex items-center">
      {nav.changes}
    </TextLink>
  );
}
