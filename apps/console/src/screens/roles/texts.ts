import { catalog } from '../../catalog';

export const rolesCatalog = catalog(
  {
    title: 'Roles',
    emptyTitle: 'No roles yet',
    empty:
      'A role limits what an agent or an API key may do and see. Define one with defineRole and push it:',
    policies: 'Policies',
    scopeRules: 'Scope rules',
    fieldMasks: 'Masked fields',
    policiesHint: 'What no policy allows is denied. A denial takes precedence.',
    scopeHint: (type: string) =>
      `Which entities of ${type} exist for the role. All sentences must hold.`,
    maskHint: (type: string) =>
      `Fields of ${type} that the role may neither see, filter by nor set.`,
    noPolicies: 'It allows nothing.',
    holders: 'Who has it',
    agents: 'Agents',
    keys: 'API keys',
    runAs: 'Tools that run as it',
  },
  {
    title: 'Roles',
    emptyTitle: 'Aún no hay roles',
    empty:
      'Un rol limita lo que un agente o una clave de API puede hacer y ver. Defina uno con defineRole y publíquelo:',
    policies: 'Políticas',
    scopeRules: 'Reglas de alcance',
    fieldMasks: 'Campos ocultos',
    policiesHint: 'Lo que ninguna política permite está denegado. Una denegación tiene prioridad.',
    scopeHint: (type) =>
      `Qué entidades de ${type} existen para el rol. Deben cumplirse todas las frases.`,
    maskHint: (type) => `Campos de ${type} que el rol no puede ver, filtrar ni escribir.`,
    noPolicies: 'No permite nada.',
    holders: 'Quién lo tiene',
    agents: 'Agentes',
    keys: 'Claves de API',
    runAs: 'Herramientas que se ejecutan con él',
  },
);
