import type { ResultOf } from '@parley/client/manage';

export type ListedTool = ResultOf<'listTools'>['data'][number];
