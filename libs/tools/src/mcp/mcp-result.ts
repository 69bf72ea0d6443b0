import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Json } from '@parley/contracts';
import { failure } from '../failure';
import type { ToolResult } from '../types';
import { McpUnreachable } from './mcp-connection';

type Block = CallToolResult['content'][number];

const maxErrorChars = 2_000;
/** Error code of the client library for a request without an answer. */
const requestTimeout = 'REQUEST_TIMEOUT';

/** Converts the answer of a server: its structured data when it sends any, else its text. */
export function toToolResult({
  content = [],
  structuredContent,
  isError,
}: CallToolResult): ToolResult {
  const text = content.map(textOf).join('\n');
  if (isError) return failure('execution_error', text.slice(0, maxErrorChars) || 'The tool failed');
  return { ok: true, result: (structuredContent ?? text) as Json };
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`;
    case 'resource_link':
      return `[${block.name}: ${block.uri}]`;
    case 'image':
    case 'audio':
      return `[${block.type}, ${block.mimeType}]`;
  }
}

/** Converts an error of the client library to a failure that may be shown to a model. */
export function toFailure(thrown: unknown, server: string): ToolResult & { ok: false } {
  // An error while the revision is negotiated has its reason as the cause.
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const error = cause instanceof McpUnreachable ? cause : thrown;
  if (error instanceof McpUnreachable) {
    const errorType = error.reason === 'timeout' ? 'timeout' : 'execution_error';
    return failure(errorType, `The MCP server "${server}" cannot be reached: ${error.message}`);
  }
  const status = statusOf(error);
  if (status === 401 || status === 403) {
    return failure(
      'execution_error',
      `The MCP server "${server}" refuses our credentials (${status})`,
    );
  }
  if (status !== null)
    return failure('execution_error', `The MCP server "${server}" answered ${status}`);
  const { name, code, message } =
    error instanceof Error ? (error as Error & { code?: unknown }) : {};
  if (code === requestTimeout)
    return failure('timeout', `The MCP server "${server}" did not answer in time`);
  if (name === 'ProtocolError') return failure('execution_error', message!.slice(0, maxErrorChars));
  return failure(
    'execution_error',
    `The MCP server "${server}" gave an answer that cannot be read`,
  );
}

/** The HTTP status of an answer without a message of the protocol; null for other errors. */
export function statusOf(error: unknown): number | null {
  const { status } = (error ?? {}) as { status?: unknown };
  return error instanceof Error && typeof status === 'number' && status >= 300 ? status : null;
}
