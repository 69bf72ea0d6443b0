import { catalog } from '../../catalog';

type Separator = '\t' | ',' | ';';

const cellsOf = (count: string) => (count === '1' ? '1 cell' : `${count} cells`);
const rowsOf = (count: string) => (count === '1' ? '1 row' : `${count} rows`);
const celdas = (count: string) => (count === '1' ? '1 celda' : `${count} celdas`);
const filas = (count: string) => (count === '1' ? '1 fila' : `${count} filas`);

/** The texts of the grid: cells, pasting, the selection. */
export const gridCatalog = catalog(
  {
    sortBy: (field: string) => `Sort by ${field}`,
    sortedByRank: 'A search shows the best match first',
    selectLoaded: 'Select all loaded rows',
    selectRow: (id: string) => `Select ${id}`,
    openRow: (id: string) => `Open ${id}`,
    open: 'Open (Ctrl Enter)',
    yes: 'yes',
    no: 'no',
    emptyValue: '(empty)',
    expected: (what: string) =>
      ({
        number: 'must be a number',
        integer: 'must be a whole number',
        boolean: 'must be true or false',
        json: 'must be JSON',
        object: 'must be a JSON object',
        array: 'must be a JSON array',
      })[what] ?? what,
    refusedHint: '· Not saved. Enter edits it, Escape restores the stored value.',
    notSaved: (count: number) => (count === 1 ? '1 cell not saved' : `${count} cells not saved`),
    gridKeys:
      'Enter edits · Space selects or toggles · Ctrl Enter opens · paste from a spreadsheet',
    loadedOf: (count: string, total: string) => `${count} loaded of ${total}`,
    all: (count: string) => `${count} in all`,

    paste: 'Paste',
    emptyCells: 'Empty the marked cells',
    pasting: (cells: string, rows: string) =>
      `Change ${cellsOf(cells)} of ${rows === '1' ? '1 entity' : `${rows} entities`}`,
    willChange: (cells: string, rows: string) => `Changes ${cellsOf(cells)} in ${rowsOf(rows)}.`,
    wrongCells: (count: string) =>
      count === '1'
        ? '1 does not fit its field and is not changed.'
        : `${count} do not fit their field and are not changed.`,
    checking: 'Checking…',
    outside: (rows: number, columns: number) =>
      `Not pasted, because the grid has no place for them: ${[rows > 0 && rowsOf(String(rows)), columns > 0 && (columns === 1 ? '1 column' : `${columns} columns`)].filter(Boolean).join(', ')}.`,
    tooManyCells: (most: string) => `A paste takes at most ${most} cells. Import a file for more.`,
    changeCells: (count: string) => `Change ${cellsOf(count)}`,
    firstOnes: (count: string) => `The first ${count} are shown.`,
    entity: 'Entity',
    before: 'Before',
    after: 'After',
    separator: 'Between cells',
    separators: {
      '\t': 'Cells end with a tab',
      ',': 'Cells end with a comma',
      ';': 'Cells end with a semicolon',
    } as Record<Separator, string>,
    decimals: 'How numbers are written',
    numbersLike: (example: string) => `Numbers like ${example}`,

    selection: 'Selection',
    selected: (count: number) => `${count} selected`,
    allSelected: (count: string) => `All ${count} that match are selected`,
    selectAll: (count: string) => `Select all ${count} that match`,
    clear: 'Clear selection',
    remove: (count: number, text: string) =>
      count === 1 ? 'Delete 1 entity' : `Delete ${text} entities`,
    removeQuestion: (count: number, text: string, type: string) =>
      `Delete ${text} of ${type}? ${count === 1 ? 'It' : 'They'} can be restored.`,
    removing: (count: string, type: string) => `Delete ${count} of ${type}`,
    removed: (count: string) => `${count} deleted`,
    restore: 'Restore',
    restoreCount: (count: string) => `Restore ${count}`,
    restoring: (count: string, type: string) => `Restore ${count} of ${type}`,
    restored: (count: string) => `${count} restored`,
    setField: 'Set a field',
    setting: (field: string, count: string) => `Set ${field} of ${count}`,
    changed: (count: string) => `${count} changed`,
    changeCount: (count: string) => `Change ${count}`,
    willSet: (count: string, type: string) => `The field of ${count} of ${type} gets this value.`,
    willEmpty: (count: string, type: string) => `The field of ${count} of ${type} becomes empty.`,
  },
  {
    sortBy: (field) => `Ordenar por ${field}`,
    sortedByRank: 'La búsqueda muestra primero lo más parecido',
    selectLoaded: 'Seleccionar todas las filas cargadas',
    selectRow: (id) => `Seleccionar ${id}`,
    openRow: (id) => `Abrir ${id}`,
    open: 'Abrir (Ctrl Enter)',
    yes: 'sí',
    no: 'no',
    emptyValue: '(vacío)',
    expected: (what) =>
      ({
        number: 'debe ser un número',
        integer: 'debe ser un número entero',
        boolean: 'debe ser true o false',
        json: 'debe ser JSON',
        object: 'debe ser un objeto JSON',
        array: 'debe ser una lista JSON',
      })[what] ?? what,
    refusedHint: '· No se guardó. Enter lo edita, Escape muestra el valor guardado.',
    notSaved: (count) => (count === 1 ? '1 celda sin guardar' : `${count} celdas sin guardar`),
    gridKeys:
      'Enter edita · Espacio selecciona o cambia · Ctrl Enter abre · pegue desde una hoja de cálculo',
    loadedOf: (count, total) => `${count} cargadas de ${total}`,
    all: (count) => `${count} en total`,

    paste: 'Pegar',
    emptyCells: 'Vaciar las celdas marcadas',
    pasting: (cells, rows) =>
      `Cambiar ${celdas(cells)} de ${rows === '1' ? '1 entidad' : `${rows} entidades`}`,
    willChange: (cells, rows) => `Cambia ${celdas(cells)} en ${filas(rows)}.`,
    wrongCells: (count) =>
      count === '1'
        ? '1 no corresponde a su campo y no se cambia.'
        : `${count} no corresponden a su campo y no se cambian.`,
    checking: 'Revisando…',
    outside: (rows, columns) =>
      `No se pega lo que no cabe en la tabla: ${[rows > 0 && filas(String(rows)), columns > 0 && (columns === 1 ? '1 columna' : `${columns} columnas`)].filter(Boolean).join(', ')}.`,
    tooManyCells: (most) =>
      `Se pueden pegar como máximo ${most} celdas. Para más, importe un archivo.`,
    changeCells: (count) => `Cambiar ${celdas(count)}`,
    firstOnes: (count) => `Se muestran los primeros ${count}.`,
    entity: 'Entidad',
    before: 'Antes',
    after: 'Después',
    separator: 'Entre celdas',
    separators: {
      '\t': 'Las celdas terminan en tabulación',
      ',': 'Las celdas terminan en coma',
      ';': 'Las celdas terminan en punto y coma',
    },
    decimals: 'Cómo se escriben los números',
    numbersLike: (example) => `Números como ${example}`,

    selection: 'Selección',
    selected: (count) => (count === 1 ? '1 seleccionada' : `${count} seleccionadas`),
    allSelected: (count) => `Están seleccionadas las ${count} que coinciden`,
    selectAll: (count) => `Seleccionar las ${count} que coinciden`,
    clear: 'Quitar la selección',
    remove: (count, text) => (count === 1 ? 'Eliminar 1 entidad' : `Eliminar ${text} entidades`),
    removeQuestion: (count, text, type) =>
      `¿Eliminar ${text} de ${type}? Se ${count === 1 ? 'puede' : 'pueden'} restaurar.`,
    removing: (count, type) => `Eliminar ${count} de ${type}`,
    removed: (count) => (count === '1' ? '1 eliminada' : `${count} eliminadas`),
    restore: 'Restaurar',
    restoreCount: (count) => `Restaurar ${count}`,
    restoring: (count, type) => `Restaurar ${count} de ${type}`,
    restored: (count) => (count === '1' ? '1 restaurada' : `${count} restauradas`),
    setField: 'Cambiar un campo',
    setting: (field, count) => `Cambiar ${field} de ${count}`,
    changed: (count) => (count === '1' ? '1 cambiada' : `${count} cambiadas`),
    changeCount: (count) => `Cambiar ${count}`,
    willSet: (count, type) => `El campo de ${count} de ${type} tendrá este valor.`,
    willEmpty: (count, type) => `El campo de ${count} de ${type} quedará vacío.`,
  },
);
