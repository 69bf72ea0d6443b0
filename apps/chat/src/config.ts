import { runtimeVariables } from '@parley/runtime';
import { databaseVariables, listVariable, redisVariables, serviceVariables } from '@parley/service';

export const chatVariables = {
  ...serviceVariables(4002),
  ...databaseVariables,
  ...redisVariables,
  ...runtimeVariables,
  MCP_ALLOWED_ORIGINS: listVariable()
    .refine((origins) => origins.every((origin) => URL.canParse(origin)), 'must be origins such as https://app.example')
    .meta({
      description:
        'Origins of web pages that may use /v1/mcp besides that of PUBLIC_URL, such as https://app.example. Requests of other pages are answered with 403.',
    }),
};
