import { operations } from '@parley/contracts';
import { route } from '@parley/service';

export const health = () => route(operations.health, async () => ({ status: 'ok', timestamp: Date.now() }));
