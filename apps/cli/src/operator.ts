/** Who changes something with a command that uses the database, for the audit log. */
export const operatorSource = { actor: { type: 'command', id: null, name: null } } as const;
