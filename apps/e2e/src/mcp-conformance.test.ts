import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Server, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { push } from './client';
import { root } from './install-packages';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

/**
 * The scenarios of the public conformance suite for lifecycle, transport and tools, by revision.
 * Others are for what Parley does not offer: resources, prompts, completion, log messages,
 * progress, requests to the client, and tools that return images or sound.
 */
const lifecycle = ['server-initialize', 'server-session-lifecycle', 'ping'];
const tools = ['tools-list', 'tools-call-simple-text', 'tools-call-error'];
const transport = [
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];
const scenarios: Record<string, string[]> = {
  '2025-06-18': [...lifecycle, ...tools],
  '2025-11-25': [...lifecycle, ...tools, ...transport, 'server-sse-polling'],
  '2026-07-28': [
    ...tools,
    ...transport,
    'server-stateless',
    'http-header-validation',
    'caching',
    'input-required-result-unsupported-methods',
  ],
};

/** Checks of these scenarios that need what Parley does not offer. */
const notOffered = new Set([
  'sep-2549-prompts-list-caching-hints',
  'sep-2549-resources-list-caching-hints',
  'sep-2549-resources-templates-list-caching-hints',
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-sends-subscription-ack',
  'sep-2575-server-tags-subscription-id',
]);

const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-'));
let tenant: Tenant;
let forwarder: Server;
let url: string;

beforeAll(async () => {
  tenant = await createTenant();
  const client = await tenant.client();
  const any = {
    description: 'For the conformance suite.',
    parameters: { type: 'object', properties: {} },
  };
  await push(client, {
    tools: [
      {
        ...any,
        name: 'test_simple_text',
        handlerCode: 'return "This is a simple text response for testing."',
      },
      {
        ...any,
        name: 'test_error_handling',
        handlerCode: 'throw new Error("This tool intentionally returns an error for testing")',
      },
      { ...any, name: 'test_logging_tool', handlerCode: 'console.log("a line"); return "done"' },
      {
        ...any,
        name: 'json_schema_2020_12_tool',
        handlerCode: 'return null',
        parameters: schema2020,
      },
    ],
  });
  // The suite has no option for a key. Its own page, which it takes to be the server's, becomes the
  // page of PUBLIC_URL.
  forwarder = createServer((request, response) => {
    const { origin } = request.headers;
    const headers = {
      ...request.headers,
      authorization: `Bearer ${client.key}`,
      ...(origin !== undefined && {
        origin: origin === new URL(url).origin ? shared.publicUrl : origin,
      }),
    };
    const forwarded = send(
      `${shared.url}/v1/mcp`,
      { method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => forwarder.listen(0, 'localhost', resolve));
  url = `http://localhost:${(forwarder.address() as AddressInfo).port}/mcp`;
});

afterAll(async () => {
  forwarder.closeAllConnections();
  forwarder.close();
  rmSync(folder, { recursive: true });
  await tenant.close();
});

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/**
 * Runs the suite and returns the checks by scenario. It exits with 1, because scenarios for what
 * Parley does not offer fail.
 */
async function runSuite(revision: string): Promise<Map<string, Check[]>> {
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  const output = join(folder, revision);
  const args = [
    suite,
    'server',
    '--url',
    url,
    '--suite',
    'all',
    '--spec-version',
    revision,
    '--output-dir',
    output,
  ];
  await new Promise<void>((resolve) => execFile(process.execPath, args, () => resolve()));
  return new Map(
    globSync('*/checks.json', { cwd: output }).map((file) => {
      const [, name = ''] = /^server-(.+)-\d{4}-\d{2}-\d{2}T/.exec(file) ?? [];
      return [name, JSON.parse(readFileSync(join(output, file), 'utf8')) as Check[]];
    }),
  );
}

test.each(Object.keys(scenarios))(
  'the conformance suite of MCP passes for revision %s',
  async (revision) => {
    const checks = await runSuite(revision);
    const failed = scenarios[revision]!.flatMap((name) =>
      (checks.get(name) ?? [{ id: `${name} did not run`, status: 'FAILURE' }])
        .filter(({ id, status }) => status === 'FAILURE' && !notOffered.has(id))
        .map(({ id, errorMessage }) => `${name}: ${id}: ${errorMessage}`),
    );
    expect(failed).toEqual([]);
    expect(
      [...checks.values()].flat().filter(({ status }) => status === 'SUCCESS').length,
    ).toBeGreaterThan(10);
  },
  120_000,
);
