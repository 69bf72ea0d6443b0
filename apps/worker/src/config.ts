import { databaseVariables, redisVariables, serviceVariables } from '@parley/service';

export const workerVariables = { ...serviceVariables(4005), ...databaseVariables, ...redisVariables };
