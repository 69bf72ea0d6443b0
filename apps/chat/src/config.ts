import { runtimeVariables } from '@parley/runtime';
import { databaseVariables, serviceVariables } from '@parley/service';

export const chatVariables = {
  ...serviceVariables(4002),
  ...databaseVariables,
  ...runtimeVariables,
};
