import { createHash } from 'node:crypto';
import {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiResponse,
  type SchemaObject,
  describeType,
  noteOf,
  rowsOf,
} from '@parley/contracts';
import { addressMark, curlOf } from './curl';
import { style } from './style';

/**
 * Content-Security-Policy of the page: it runs no script, loads nothing, and uses only its
 * own style sheet.
 */
export const pagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

type Entry = { method: string; path: string; operation: OpenApiOperation };

/**
 * Renders the OpenAPI document as one HTML page. `addressMark` is a placeholder for the
 * address of the host.
 */
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
<input type="checkbox" id="contents"><label for="contents">Contents</label>
<div>
<h3><a href="#authentication">Authentication</a></h3>
${sections.map(({ name, entries: own }) => `<h3>${escape(name)}</h3><ul>${own.map(navigate).join('')}</ul>`).join('\n')}
<h3><a href="#schemas">Schemas</a></h3>
</div>
</nav>
<main>
<h1>${escape(title)} API <small>${escape(version)}</small></h1>
<p>${prose(description)}</p>
<p>Machine-readable form: <a href="openapi.json">openapi.json</a> (OpenAPI ${escape(document.openapi)}). An asterisk marks required parameters and fields.</p>
<h2 id="authentication">Authentication</h2>
<p>Send an API key with every request, in the <code>Authorization</code> header: the word <code>Bearer</code>, a space and the key. Create a key with <code>parley keys create</code>, or use the one that <code>npm start</code> prints. A key is a secret of the server that uses it and does not belong in a web page. The examples read it from the environment variable <code>PARLEY_KEY</code>:</p>
<pre>export PARLEY_KEY=sk_dev_…
curl ${addressMark}/v1/entity-types -H "Authorization: Bearer $PARLEY_KEY"</pre>
<p>Status 401 says in <code>code</code> what is wrong: <code>missing_key</code> (no key was sent), <code>wrong_scheme</code> (the header does not begin with <code>Bearer</code>) or <code>unknown_key</code> (malformed, unknown, expired or revoked).</p>
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

/** The HTML of a text of the page. */
export const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character]!);

const navigate = ({ method, path, operation }: Entry): string =>
  `<li><a href="#${escape(operation.operationId)}"><b class="${method}">${method}</b> ${escape(path)}</a></li>`;

function describeEntry(entry: Entry): string {
  const { method, path, operation } = entry;
  const { operationId, summary, description, security, parameters, requestBody, responses } =
    operation;
  const credentials = security
    .flatMap((one) => Object.keys(one))
    .map((name) => (name === 'apiKey' ? 'an API key' : 'the token of the tool executor'));
  const [answers, errors] = [true, false].map((isAnswer) =>
    Object.entries(responses).filter(([status]) => Number(status) < 400 === isAnswer),
  ) as [[string, OpenApiResponse][], [string, OpenApiResponse][]];
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return `<article id="${escape(operationId)}">
<h3><b class="${method}">${method}</b> <code>${escape(path)}</code></h3>
<p><strong>${escape(summary)}.</strong> ${prose(description ?? '')}</p>
<p class="quiet">Requires ${credentials.length > 0 ? credentials.join(' or ') : 'no API key'}.</p>
${
  parameters.length === 0
    ? ''
    : table(
        ['Parameter', 'Type', 'Description', 'In'],
        parameters.map((one) => [
          `${one.name}${one.required ? ' *' : ''}`,
          describeType(one.schema),
          one.description,
          one.in,
        ]),
      )
}
${body === undefined ? '' : `<h4>Request body <small>${escape(bodyType!)}${requestBody!.required ? '' : ', optional'}</small></h4>${fields(body.schema)}`}
<pre>${escape(curlOf(entry))}</pre>
<h4>Response</h4>
${answers.map(([status, response]) => describeAnswer(status, response)).join('\n')}
${errors.length === 0 ? '' : table(['Status', 'Code', 'Error'], errors.flatMap(errorRows))}
</article>`;
}

function describeAnswer(
  status: string,
  { description, content: contents = {} }: OpenApiResponse,
): string {
  const [, one] = Object.entries(contents)[0] ?? [];
  return `<p><b class="s2">${status}</b> ${escape(description)}</p>${one === undefined ? '' : content(one)}`;
}

/** The codes of a status. They have the schema `Error`, and the fields that the operation adds. */
function errorRows([status, response]: [string, OpenApiResponse]): string[][] {
  const { schema, examples = {} } = response.content!['application/json']!;
  const own = rowsOf(schema).flatMap(({ name, type }) =>
    name === 'code' ? [] : [`\`${name}\`: ${type}`],
  );
  const added = own.length === 0 ? '' : ` (with ${own.join(', ')})`;
  return Object.entries(examples).map(([code, { value }]) => [
    status,
    `\`${code}\``,
    (value as { error: string }).error + added,
  ]);
}

function content({ schema, examples = {} }: OpenApiContent): string {
  const shown = Object.values(examples).map(
    ({ value }) => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`,
  );
  return fields(schema) + shown.join('');
}

const describeSchema = (name: string, schema: SchemaObject): string =>
  `<article id="schema-${escape(name)}"><h3><code>${escape(name)}</code></h3>${fields(schema)}</article>`;

function fields(schema: SchemaObject): string {
  const rows = rowsOf(schema);
  if (rows.length === 0) return `<p>${linkTypes(describeType(schema))}</p>`;
  return table(
    ['Field', 'Type', 'Description'],
    rows.map((row) => [`${row.name}${row.required === true ? ' *' : ''}`, row.type, noteOf(row)]),
  );
}

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

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
