import { databaseVariables, numberVariable, redisVariables, serviceVariables } from '@parley/service';

export const dataVariables = {
  ...serviceVariables(4001),
  ...databaseVariables,
  ...redisVariables,
  RATE_LIMIT_PER_KEY: numberVariable(60, 1).meta({ description: 'Data API requests of one key in any minute.' }),
  RATE_LIMIT_PER_ORGANIZATION: numberVariable(200, 1).meta({
    description: 'Data API requests of all keys of an organization in any minute.',
  }),
};
