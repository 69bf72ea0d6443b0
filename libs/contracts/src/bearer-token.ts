/**
 * The token of an `Authorization` header, such as an API key; undefined when the header
 * has another form.
 */
export const bearerTokenOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +([^\s]+) *$/i.exec(authorization)?.[1];
