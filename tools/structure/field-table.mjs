/**
 * A table in Markdown of the fields of a schema, for the generated pages of the reference.
 * @param {{ name: string, type: string, required: boolean | string, description: string, limits:
 *   string }[]} rows
 * @param {Record<string, string>} [links] text that is added to the meaning of a field
 */
export function fieldTable(rows, links = {}) {
  const lines = rows.map(({ name, type, required, description, limits }) => {
    const isRequired = required === true ? 'yes' : required || 'no';
    const meaning = [description, links[name] && `See ${links[name]}.`].filter(Boolean).join(' ');
    const cells = [`\`${name}\``, typeNames(type), isRequired, meaning, limits];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll(
      '|  |',
      '| |',
    );
  });
  return [
    '| field | type | required | meaning | limits |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

const typeNames = (type) =>
  type
    .replaceAll(/"[^"]*"/g, '`$&`')
    .replaceAll('#JsonObject', 'object')
    .replaceAll('#Json', 'any');
