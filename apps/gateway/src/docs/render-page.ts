import { createHash } from 'node:crypto';
import type { OpenApiContent, OpenApiDocument, OpenApiOperation, SchemaObject } from '@parley/contracts';
import { style } from './style';
import { describeType, rowsOf } from './schema-rows';

/** Content-Security-Policy of the page: it runs no script, loads nothing, and uses only its own style sheet. */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

type Entry = { method: string; path: string; operation: OpenApiOperation };

/** Renders the OpenAPI document as one HTML page. */
export function renderPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const sections = document.tags.map((tag) => ({
    ...tag,
    entries: entries.filter((entry) => entry.operation.tags.includes(tag.name)),
  }));
  const { title, version, description } = document.info;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} API</title>
<style>${style}</style>
</head>
<body>
<nav><h2>${escape(title)}</h2>
${sections.map(({ name, entries: own }) => `<h3>${escape(name)}</h3><ul>${own.map(navigate).join('')}</ul>`).join('\n')}
<h3><a href="#schemas">Schemas</a></h3>
</nav>
<main>
<h1>${escape(title)} API <small>${escape(version)}</small></h1>
<p>${prose(description)}</p>
<p>Machine-readable form: <a href="openapi.json">openapi.json</a> (OpenAPI ${escape(document.openapi)}). An asterisk marks required parameters and fields.</p>
${sections.map((section) => `<h2>${escape(section.name)}</h2><p>${prose(section.description)}</p>\n${section.entries.map(describeEntry).join('\n')}`).join('\n')}
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas)
  .map(([name, schema]) => describeSchema(name, schema))
  .join('\n')}
</main>
</body>
</html>
`;
}

const navigate = ({ method, path, operation }: Entry): string =>
  `<li><a href="#${escape(operation.operationId)}"><b class="${method}">${method}</b> ${escape(path)}</a></li>`;

function describeEntry({ method, path, operation }: Entry): string {
  const { operationId, summary, description, security, parameters, requestBody, responses } = operation;
  const credentials = security
    .flatMap((one) => Object.keys(one))
    .map((name) => (name === 'apiKey' ? 'an API key' : 'the token of the tool executor'));
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return `<article id="${escape(operationId)}">
<h3><b class="${method}">${method}</b> <code>${escape(path)}</code></h3>
<p><strong>${escape(summary)}.</strong> ${prose(description ?? '')}</p>
<p class="quiet">Requires ${credentials.length > 0 ? credentials.join(' or ') : 'no API key'}.</p>
${
  parameters.length === 0
    ? ''
    : table(
        ['Parameter', 'In', 'Type', 'Description'],
        parameters.map((one) => [
          `${one.name}${one.required ? ' *' : ''}`,
          one.in,
          describeType(one.schema),
          one.description ?? noteOf(one.schema),
        ]),
      )
}
${body === undefined ? '' : `<h4>Request body <small>${escape(bodyType!)}${requestBody!.required ? '' : ', optional'}</small></h4>${content(body)}`}
<h4>Responses</h4>
${Object.entries(responses)
  .map(([status, response]) => {
    const [, one] = Object.entries(response.content ?? {})[0] ?? [];
    return `<details${status.startsWith('2') ? ' open' : ''}><summary><b class="s${status[0]}">${status}</b> ${escape(response.description)}</summary>${one === undefined ? '' : content(one)}</details>`;
  })
  .join('\n')}
</article>`;
}

function content({ schema, examples = {} }: OpenApiContent): string {
  const shown = Object.values(examples).map(({ value }) => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`);
  return fields(schema) + shown.join('');
}

const describeSchema = (name: string, schema: SchemaObject): string =>
  `<article id="schema-${escape(name)}"><h3><code>${escape(name)}</code></h3>${fields(schema)}</article>`;

function fields(schema: SchemaObject): string {
  const rows = rowsOf(schema);
  if (rows.length === 0) return `<p>${linkTypes(describeType(schema))}</p>`;
  return table(
    ['Field', 'Type', 'Description'],
    rows.map(({ name, type, note, required }) => [`${name}${required ? ' *' : ''}`, type, note]),
  );
}

const noteOf = (schema: SchemaObject): string => (typeof schema.description === 'string' ? schema.description : '');

const table = (header: string[], rows: string[][]): string =>
  `<table><tr>${header.map((cell) => `<th>${cell}</th>`).join('')}</tr>${rows
    .map(
      (row) =>
        `<tr>${row.map((cell, at) => `<td>${at === 0 ? `<code>${escape(cell)}</code>` : linkTypes(cell)}</td>`).join('')}</tr>`,
    )
    .join('')}</table>`;

/** Turns `#Entity` into a link to the schema of that name. */
const linkTypes = (text: string): string =>
  prose(text).replace(/#([A-Z]\w+)/g, (_, name: string) => `<a href="#schema-${name}">${name}</a>`);

/** HTML of a text in which backticks mark code. */
const prose = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);
