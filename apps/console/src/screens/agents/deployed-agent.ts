import type { ResultOf } from '@parley/client/manage';

export type DeployedAgent = ResultOf<'getAgent'>;
