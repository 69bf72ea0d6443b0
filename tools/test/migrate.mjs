import { join } from 'node:path';
import { loadMigrate } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';

/** `node migrate.mjs <database url>`: applies all migrations. */
const { migrate } = await loadMigrate();
await migrate({ databaseUrl: process.argv[2], migrationsDir: join(root, 'prisma', 'migrations') });
process.exit(0);
