import { route } from '@parley/service';
import { z } from 'zod';

export const health = () =>
  route(
    {
      method: 'get',
      path: '/health',
      permission: null,
      response: z.object({ status: z.literal('ok'), timestamp: z.number() }),
    },
    async () => ({ status: 'ok', timestamp: Date.now() }),
  );
