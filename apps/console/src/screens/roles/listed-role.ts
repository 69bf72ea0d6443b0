import type { ResultOf } from '@parley/client/manage';

export type ListedRole = ResultOf<'listRoles'>['data'][number];
