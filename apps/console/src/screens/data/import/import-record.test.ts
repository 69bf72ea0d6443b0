import type { Workspace } from '../../../api/session';
import { browserStorage } from '../../../testing/browser-storage';
import { findRecord, recordKey, saveRecord } from './import-record';

beforeEach(() =>
  Object.defineProperty(globalThis, 'localStorage', {
    value: browserStorage(),
    configurable: true,
  }),
);
const state = (next: number) => ({ importId: 'i', next, created: next, updated: 0, refused: 0 });

test('an import is known by its workspace, type, file and columns', () => {
  const workspace = (environment: string) =>
    ({ key: ['org', environment] }) as unknown as Workspace;
  const keys = [
    recordKey(workspace('development'), 'order', 'print', { columns: [1] }),
    recordKey(workspace('production'), 'order', 'print', { columns: [1] }),
    recordKey(workspace('development'), 'lead', 'print', { columns: [1] }),
    recordKey(workspace('development'), 'order', 'other', { columns: [1] }),
    recordKey(workspace('development'), 'order', 'print', { columns: [2] }),
    recordKey(workspace('development'), 'order","print', '', { columns: [1] }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test('the last state of an import is found', () => {
  saveRecord('a', state(1));
  saveRecord('b', state(2));
  saveRecord('a', state(3));
  expect(findRecord('a')).toMatchObject({ of: 'a', next: 3 });
  expect(findRecord('b')).toMatchObject({ of: 'b', next: 2 });
  expect(findRecord('c')).toBeUndefined();
});

test('the last 30 imports are kept', () => {
  for (let at = 0; at < 31; at += 1) saveRecord(`import ${at}`, state(at));
  expect(findRecord('import 0')).toBeUndefined();
  expect(findRecord('import 1')).toBeDefined();
  expect(findRecord('import 30')).toBeDefined();
});

test.each(['', 'null', '{}', '[', '"x"', '4'])(
  'what another version has stored is no record: %j',
  (text) => {
    localStorage.setItem('parley.imports', text);
    expect(findRecord('a')).toBeUndefined();
    saveRecord('a', state(1));
    expect(findRecord('a')).toMatchObject({ next: 1 });
  },
);
