import { runtimeVariables } from '@parley/runtime';
import { redisVariables } from '@parley/redis';
import {
  databaseVariables,
  largeBodyVariables,
  keyLimitVariables,
  listVariable,
  numberVariable,
  serviceVariables,
} from '@parley/service';

export const chatVariables = {
  ...serviceVariables(4002),
  ...databaseVariables(15_000),
  ...largeBodyVariables(96),
  ...redisVariables,
  ...keyLimitVariables,
  ...runtimeVariables,
  MCP_ALLOWED_ORIGINS: listVariable()
    .refine(
      (origins) => origins.every((origin) => URL.canParse(origin)),
      'must be origins such as https://app.example',
    )
    .meta({
      description:
        'Origins of web pages that may use /v1/mcp besides that of PUBLIC_URL, such as https://app.example. Requests of other pages are answered with 403.',
    }),
  CHAT_MAX_TURNS: numberVariable(256, 1).meta({
    description:
      'Chat, utility and MCP requests that one process answers at the same time. A single busy organization gets two thirds of them; its other requests are refused.',
  }),
  CHAT_RATE_LIMIT_PER_KEY: numberVariable(600, 1).meta({
    description: 'Chat requests of one key in any minute.',
  }),
  CHAT_RATE_LIMIT_PER_ORGANIZATION: numberVariable(3_000, 1).meta({
    description: 'Chat requests of all keys of an organization in any minute.',
  }),
};
