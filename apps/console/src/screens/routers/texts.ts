import { catalog } from '../../catalog';

export const routersCatalog = catalog(
  {
    title: 'Routers',
    emptyTitle: 'No routers yet',
    empty:
      'A router chooses the agent that answers a message. Define one with defineRouter and push it:',
    mode: 'Mode',
    modes: { rules: 'by rules', classify: 'a model chooses' },
    agents: 'Agents',
    rules: 'Rules',
    rule: (conditions: string) => `When ${conditions}`,
    rulesHint:
      'The first rule that holds chooses the agent. Fields are those of the entity with the phone number of the contact.',
    noRules: 'It has no rules, so the fallback always answers.',
    classify: (model: string, count: number) =>
      `${model} reads the name and description of each agent, the last ${count} messages and the new one, and chooses the agent.`,
    fallback: 'Otherwise',
    fallbackHint: 'when no rule holds, or the model chooses no agent',
    transfer: 'After a transfer the same agent answers for 4 hours.',
    chat: 'Open in playground',
  },
  {
    title: 'Enrutadores',
    emptyTitle: 'Aún no hay enrutadores',
    empty:
      'Un enrutador elige qué agente responde un mensaje. Defina uno con defineRouter y publíquelo:',
    mode: 'Modo',
    modes: { rules: 'con reglas', classify: 'elige un modelo' },
    agents: 'Agentes',
    rules: 'Reglas',
    rule: (conditions) => `Cuando ${conditions}`,
    rulesHint:
      'La primera regla que se cumple elige el agente. Los campos son los de la entidad con el teléfono del contacto.',
    noRules: 'No tiene reglas, así que siempre responde el agente predeterminado.',
    classify: (model, count) =>
      `${model} lee el nombre y la descripción de cada agente, los últimos ${count} mensajes y el nuevo, y elige al agente.`,
    fallback: 'Si no',
    fallbackHint: 'cuando ninguna regla se cumple o el modelo no elige un agente',
    transfer: 'Tras una transferencia responde el mismo agente durante 4 horas.',
    chat: 'Abrir en pruebas',
  },
);
