import { redisVariables } from '@parley/redis';
import {
  databaseVariables,
  largeBodyVariables,
  keyLimitVariables,
  numberVariable,
  serviceVariables,
  urlVariable,
} from '@parley/service';
import { z } from 'zod';

export const dataVariables = {
  ...serviceVariables(4001),
  ...databaseVariables(15_000),
  ...largeBodyVariables(48),
  ...redisVariables,
  ...keyLimitVariables,
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description:
      'Address of the tool executor, which parses the handlers of pushed tools; without it they are not checked.',
  }),
  PUSH_CHECK_MS: numberVariable(10_000, 100).meta({
    description:
      'Time for checking the definitions of one push; longer ones are answered with 413.',
  }),
  EXECUTOR_TOKEN: z.string().optional().meta({ description: 'Bearer token of the tool executor.' }),
  RATE_LIMIT_PER_KEY: numberVariable(60, 1).meta({
    description: 'Data API requests of one key in any minute.',
  }),
  RATE_LIMIT_PER_ORGANIZATION: numberVariable(200, 1).meta({
    description: 'Data API requests of all keys of an organization in any minute.',
  }),
  PEOPLE_RATE_LIMIT_PER_PERSON: numberVariable(600, 1).meta({
    description: 'Data API requests of one signed-in person in any minute.',
  }),
  PEOPLE_RATE_LIMIT_PER_ORGANIZATION: numberVariable(3_000, 1).meta({
    description: 'Data API requests of all signed-in people of an organization in any minute.',
  }),
};
