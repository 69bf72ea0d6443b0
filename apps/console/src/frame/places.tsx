import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { meQuery } from '../api/session';
import { useTexts } from '../i18n';
import { Choice } from '../parts/controls';
import { base } from '../parts/link';
import { useWorkspace } from './workspace';

/**
 * The choice of organization and environment. Production is marked in the word and in colour; the
 * end of a long name is cut.
 */
export function Places() {
  const { organization, environment } = useWorkspace();
  const { data: me } = useQuery(meQuery);
  const { nav } = useTexts();
  const navigate = useNavigate();
  const options = (me?.organizations ?? [organization]).flatMap(({ slug, name, environments }) =>
    environments.map((one) => [`${slug}/${one}`, `${nav[one]} · ${name}`] as const),
  );
  return (
    <Choice
      className={`mb-1 w-full font-medium ${environment === 'production' ? '!border-waiting text-waiting' : ''}`}
      label={nav.organization}
      value={`${organization.slug}/${environment}`}
      onChange={({ target }) => {
        const [slug, chosen] = target.value.split('/') as [string, string];
        // What is open belongs to the place that is left.
        void navigate({
          to: base,
          params: { organization: slug, environment: chosen },
        });
      }}
      options={options}
    />
  );
}
