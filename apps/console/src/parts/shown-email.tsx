import { useTexts } from '../i18n';

/** An e-mail address, with a mark while no one has shown to read its mail. */
export function ShownEmail({
  of: { email, isEmailProved },
}: {
  of: { email: string | null; isEmailProved: boolean };
}) {
  const { confirm } = useTexts();
  if (email === null) return null;
  return (
    <>
      {email}
      {!isEmailProved && <span className="text-waiting"> · {confirm.mark}</span>}
    </>
  );
}
