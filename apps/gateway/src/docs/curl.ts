import type { OpenApiOperation } from '@parley/contracts';

/**
 * A placeholder in a rendered page for the address of the host, such as `https://api.example.com`.
 */
export const addressMark = 'http://address-of-the-host.invalid';

/**
 * A curl command for an operation, with the body of its example. The key comes from the environment
 * variable PARLEY_KEY.
 */
export function curlOf({
  method,
  path,
  operation,
}: {
  method: string;
  path: string;
  operation: OpenApiOperation;
}): string {
  const { parameters, requestBody, security } = operation;
  const needed = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=VALUE`);
  const address = `${addressMark}${path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())}`;
  const url = needed.length > 0 ? `'${address}?${needed.join('&')}'` : address;
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${url}`];
  const [scheme] = security.flatMap((one) => Object.keys(one));
  if (scheme !== undefined)
    lines.push(
      `-H "Authorization: Bearer $${scheme === 'apiKey' ? 'PARLEY_KEY' : 'EXECUTOR_TOKEN'}"`,
    );
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type !== undefined) {
    const [example] = Object.values(content!.examples ?? {});
    const body =
      typeof example?.value === 'string'
        ? example.value
        : JSON.stringify(example?.value ?? {}, null, 2);
    lines.push(`-H 'Content-Type: ${type}'`, `-d '${body.replaceAll("'", `'\\''`)}'`);
  }
  return lines.join(' \\\n  ');
}
