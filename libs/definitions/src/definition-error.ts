import type { ErrorDetail, ResourceKind } from '@parley/contracts';

/** A definition that cannot be pushed; its message names every field. Whoever loads files adds the file. */
export class DefinitionError extends Error {
  constructor(
    readonly kind: ResourceKind,
    /** Slug or name, when the definition has one. */
    readonly subject: string | null,
    readonly problems: ErrorDetail[],
  ) {
    super(
      problems.map(({ path, message }) => `${subject ?? kind}: ${path === '' ? '' : `${path} `}${message}`).join('\n'),
    );
    this.name = 'DefinitionError';
  }
}
