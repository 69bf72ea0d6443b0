import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder, sweepTemporaryFolders } from './temporary-folder';

const parent = makeTemporaryFolder('sweep');
afterAll(() => rmSync(parent, { recursive: true }));

it('deletes the folders of processes that have exited, and no others', () => {
  const ended = spawnSync(process.execPath, ['-e', '0']).pid;
  const make = (name: string, ageHours = 0): string => {
    const path = join(parent, name);
    mkdirSync(path);
    writeFileSync(join(path, 'file'), '');
    const at = Date.now() / 1000 - ageHours * 3600;
    utimesSync(path, at, at);
    return path;
  };
  const leftovers = [make(`parley-sandbox-${ended}-Ab12Cd`), make('parley-planted-Ab12Cd', 30)];
  const others = [
    makeTemporaryFolder('sandbox', parent),
    make('parley-planted-Ef34Gh', 1),
    make('something-else', 100),
    make('parley', 100),
  ];
  expect(sweepTemporaryFolders(parent).sort()).toEqual(leftovers.sort());
  expect(leftovers.filter((path) => existsSync(path))).toEqual([]);
  expect(others.filter((path) => !existsSync(path))).toEqual([]);
});
