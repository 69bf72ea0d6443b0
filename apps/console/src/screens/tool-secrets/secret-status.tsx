import type { ResultOf } from '@parley/client/manage';
import { useTexts } from '../../i18n';
import { Status } from '../../parts/status';
import { toolSecretsCatalog } from './texts';

export type ToolSecret = ResultOf<'listToolSecrets'>['data'][number];

export function SecretStatus({ of: { setAt } }: { of: ToolSecret }) {
  const { statuses } = useTexts(toolSecretsCatalog);
  const status = setAt === null ? 'missing' : 'active';
  return <Status status={status} text={statuses[status]} />;
}
