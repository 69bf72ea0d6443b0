import { catalog } from '../../catalog';

export const toolSecretsCatalog = catalog(
  {
    title: 'Tool secrets',
    name: 'Name',
    nameHint: 'As in the secrets of a tool: capital letters, digits and _',
    status: 'Status',
    statuses: { active: 'set', missing: 'not set' },
    setAt: 'Set',
    tools: 'Used by',
    noTools: 'no tool',
    unused: 'No tool declares it.',
    missingHint: 'Calls of these tools fail until it is set.',
    emptyTitle: 'No secrets yet',
    empty:
      'Custom tools read secrets, such as keys of other services, that are not in their code. Add one here, or with:',
    add: 'Add secret',
    addTitle: 'New secret',
    set: 'Set value',
    value: 'Value',
    valueHint:
      'At least 4 characters, at most 8,192 bytes. It is encrypted and cannot be read again.',
    replaceHint: 'Every call that begins after it is saved uses the new value.',
    remove: 'Delete secret',
    removeQuestion: (name: string, tools: number) =>
      tools === 0
        ? `Delete ${name}? No tool uses it.`
        : `Delete ${name}? ${tools === 1 ? '1 tool that uses it fails' : `${tools} tools that use it fail`} until it is set again.`,
  },
  {
    title: 'Secretos de herramientas',
    name: 'Nombre',
    nameHint: 'Como en los secretos de una herramienta: mayúsculas, dígitos y _',
    status: 'Estado',
    statuses: { active: 'guardado', missing: 'falta' },
    setAt: 'Guardado',
    tools: 'Lo usan',
    noTools: 'ninguna herramienta',
    unused: 'Ninguna herramienta lo declara.',
    missingHint: 'Las llamadas a estas herramientas fallan mientras falte.',
    emptyTitle: 'Aún no hay secretos',
    empty:
      'Las herramientas propias leen secretos, como claves de otros servicios, que no están en su código. Agregue uno aquí, o con:',
    add: 'Agregar secreto',
    addTitle: 'Nuevo secreto',
    set: 'Guardar valor',
    value: 'Valor',
    valueHint:
      'Al menos 4 caracteres, como máximo 8.192 bytes. Se cifra y no se puede volver a leer.',
    replaceHint: 'Toda llamada que comience después de guardarlo usa el valor nuevo.',
    remove: 'Eliminar el secreto',
    removeQuestion: (name, tools) =>
      tools === 0
        ? `¿Eliminar ${name}? Ninguna herramienta lo usa.`
        : `¿Eliminar ${name}? ${tools === 1 ? 'Falla 1 herramienta que lo usa' : `Fallan ${tools} herramientas que lo usan`} hasta que se guarde de nuevo.`,
  },
);
