import type { Handler } from '@parley/service';

export const health: Handler<'health'> = async () => ({ status: 'ok', timestamp: Date.now() });
