export { hasExited, isAlive, spawnGuarded, stopPid, stopProcess } from './child-process';
export { freePort } from './free-port';
export { startPostgres, type RunningServer } from './postgres';
export { reachableDataDir } from './postgres-home';
export { processCommand } from './process-command';
export { makeTemporaryFolder, sweepTemporaryFolders } from './temporary-folder';
export { startRedis, type RedisOptions } from './redis';
