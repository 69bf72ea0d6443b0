export { hasExited, isAlive, spawnGuarded, stopPid, stopProcess } from './child-process';
export { freePort } from './free-port';
export { startPostgres, type RunningServer } from './start-postgres';
export { reachableDataDir } from './postgres-installation';
export { processCommand } from './process-command';
export { makeTemporaryFolder, sweepTemporaryFolders } from './temporary-folder';
export { findOrInstallRedis } from './install-redis';
export { spawnService } from './spawn-service';
export { startRedis } from './start-redis';
