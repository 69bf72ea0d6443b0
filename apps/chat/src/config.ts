import { runtimeVariables } from '@parley/runtime';
import { databaseVariables, redisVariables, serviceVariables } from '@parley/service';

export const chatVariables = {
  ...serviceVariables(4002),
  ...databaseVariables,
  ...redisVariables,
  ...runtimeVariables,
};
