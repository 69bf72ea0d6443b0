import { fieldOf } from '../../testing/entities';
import type { GridColumn } from './grid-column';
import { pressGridKey } from './press-grid-key';
import type { GridEdit } from './use-grid-edit';
import type { GridView } from './use-grid-view';

const text: GridColumn = { is: 'field', field: fieldOf('name') };
const flag: GridColumn = { is: 'field', field: fieldOf('paid', 'boolean') };
const idColumn: GridColumn = { is: 'row' };

interface Given {
  column?: GridColumn;
  row?: number;
  isMarked?: boolean;
  isEntering?: boolean;
  /** A refused text is dropped by Escape. */
  isRefused?: boolean;
}

/** What is done for a key such as `shift+Tab`, and whether the browser is kept from it. */
function press(typed: string, given: Given = {}) {
  const { column = text, row = 3, isMarked = false, isEntering = false, isRefused = false } = given;
  const done: string[] = [];
  const did = (name: string) => () => void done.push(name);
  const entering = { current: isEntering };
  const view = {
    cursor: { row, column: 1 },
    size: { rows: 10, columns: 4, page: 5 },
    isMarked,
    go: (to: { row: number; column: number }, isExtended?: boolean) =>
      done.push(`go ${to.row} ${to.column}${isExtended ? ' marking' : ''}`),
    unmark: did('unmark'),
  } as unknown as GridView;
  const edit = {
    isEntering: entering,
    begin: (first?: string) => done.push(first === undefined ? 'begin' : `begin ${first}`),
    clear: did('clear'),
    toggleBoolean: did('toggle value'),
    drop: () => {
      if (isRefused) done.push('drop');
      return isRefused;
    },
    tab: (step: number) => done.push(`tab ${step}`) > 0,
  } as unknown as GridEdit;
  const names = typed === '+' ? ['+'] : typed.split('+');
  const event = {
    key: names.at(-1)!,
    ctrlKey: names.includes('ctrl'),
    metaKey: names.includes('meta'),
    altKey: names.includes('alt'),
    shiftKey: names.includes('shift'),
  };
  const actions = { open: did('open'), toggleRow: did('select'), clearMarked: did('ask to clear') };
  const isTaken = pressGridKey(event, { view, edit, column, ...actions });
  return { done: done.join(), isTaken, isEntering: entering.current };
}

test.each<[string, Given, string]>([
  ['ArrowDown', {}, 'go 4 1'],
  ['shift+ArrowDown', {}, 'go 4 1 marking'],
  ['shift+ArrowUp', { row: 0 }, 'go -1 1'],
  ['ctrl+Home', {}, 'go 0 0'],
  ['Enter', {}, 'begin'],
  ['ctrl+Enter', {}, 'open'],
  ['meta+Enter', {}, 'open'],
  ['F2', {}, 'begin'],
  ['a', {}, 'begin a'],
  ['ñ', {}, 'begin ñ'],
  ['+', {}, 'begin +'],
  [' ', {}, 'begin  '],
  [' ', { column: flag }, 'toggle value'],
  [' ', { column: idColumn }, 'select'],
  ['shift+ ', {}, 'select'],
  ['Delete', {}, 'clear'],
  ['Backspace', {}, 'clear'],
  ['Delete', { isMarked: true }, 'ask to clear'],
  ['Escape', { isMarked: true }, 'unmark'],
  ['Escape', { isRefused: true }, 'drop'],
  ['Tab', { isEntering: true }, 'tab 1'],
  ['shift+Tab', { isEntering: true }, 'tab -1'],
])('%j with %j', (key, given, done) => {
  expect(press(key, given)).toMatchObject({ done, isTaken: true });
});

test.each<[string, Given]>([
  ['Tab', {}],
  ['ctrl+Tab', { isEntering: true }],
  ['Escape', {}],
  ['ctrl+c', {}],
  ['meta+v', {}],
  ['alt+ArrowLeft', {}],
  ['alt+ArrowRight', {}],
  ['alt+a', {}],
  ['ctrl+F2', {}],
  ['F5', {}],
  ['Process', {}],
  ['Dead', {}],
  ['Enter', { row: -1 }],
  ['Delete', { row: -1 }],
  ['a', { row: -1 }],
])('%j with %j is left to the browser', (key, given) => {
  expect(press(key, given)).toMatchObject({ done: '', isTaken: false });
});

test('a move or Escape ends the entry from cell to cell, so that Tab leaves the grid', () => {
  expect(press('ArrowDown', { isEntering: true }).isEntering).toBe(false);
  expect(press('Escape', { isEntering: true }).isEntering).toBe(false);
  expect(press('Tab', { isEntering: true }).isEntering).toBe(true);
});
