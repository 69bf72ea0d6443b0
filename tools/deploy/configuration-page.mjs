const introduction = `# Configuration

Made by \`node tools/configuration.mjs\` from the schemas of the services (\`apps/*/src/config.ts\`); a test compares it with
them, so change it there.

Services are configured by environment variables alone. Each variable may come from a file instead: \`NAME_FILE\` holds its
path (for secrets that are mounted), and setting both is an error. An empty variable counts as absent. A service whose
configuration is wrong does not start, and lists everything that is wrong with it at once, without the values. No secret
has a default: \`npm start\` and the compose stack make random ones and keep them, and anywhere else you supply them.

Units stand in the names: \`_MS\` is milliseconds. Numbers are written without separators.
`;

const cli = `## The CLI

| Variable | What it is |
|---|---|
| \`DATABASE_URL\` | For the commands that work at the database: \`migrate\`, \`org\`, \`keys\`, \`threads\`, \`executions\`. |
| \`PARLEY_URL\`, \`PARLEY_API_KEY\` | For the commands that work over HTTP: the gateway's address and a key. |

Without them the CLI finds the stack that \`npm start\` runs.
`;

/**
 * docs/configuration.md, from what `loadServiceVariables` gives.
 * @param {Awaited<ReturnType<typeof import('./service-variables.mjs').loadServiceVariables>>} variables
 */
export function configurationPage(variables) {
  const services = Object.keys(variables).sort((a, b) => portOf(variables, a) - portOf(variables, b));
  const names = [...new Set(services.flatMap((service) => Object.keys(variables[service])))];
  const ports = services.map((service) => [
    `\`${service}\``,
    service === 'worker' ? '–' : portOf(variables, service),
    variables[service].INTERNAL_PORT.default,
  ]);
  const everywhere = names.filter((name) => services.every((service) => name in variables[service]));
  const rows = (wanted, withServices) =>
    wanted
      .sort()
      .flatMap((name) => rowsOf(name, services, variables).map((row) => (withServices ? row : without(row, 1))));
  return [
    introduction,
    '## Ports\n',
    table(['Service', '`PORT`', '`INTERNAL_PORT`'], ports),
    '## Every service\n',
    table(['Variable', 'Default', 'What it is'], rows(everywhere, false)),
    '## Some services\n',
    table(
      ['Variable', 'Services', 'Default', 'What it is'],
      rows(
        names.filter((name) => !everywhere.includes(name)),
        true,
      ),
    ),
    cli,
  ].join('\n');
}

const portOf = (variables, service) => variables[service].PORT.default;
const without = (row, index) => row.filter((_cell, at) => at !== index);

/** One row, or several where the services mean different things by one name. */
function rowsOf(name, services, variables) {
  const groups = new Map();
  for (const service of services.filter((each) => name in variables[each])) {
    const variable = variables[service][name];
    const shown = /^(PORT|INTERNAL_PORT)$/.test(name) ? { ...variable, default: 'see above' } : variable;
    const key = JSON.stringify(shown);
    groups.set(key, [...(groups.get(key) ?? []), service]);
  }
  return [...groups].map(([key, users]) => {
    const variable = JSON.parse(key);
    return [`\`${name}\``, users.join(', '), defaultOf(variable), `${variable.description} (${variable.type})`];
  });
}

function defaultOf({ required, default: fallback }) {
  if (required) return '**required**';
  if (fallback === 'see above') return fallback;
  return fallback === undefined || fallback === '' ? '–' : `\`${fallback}\``;
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line), ''].join('\n');
}
