import type { ErrorDetail, ResourceKind } from '@parley/contracts';

/**
 * An invalid definition. The message lists every problem, one per line, with the path of the field.
 */
export class DefinitionError extends Error {
  constructor(
    readonly kind: ResourceKind,
    /** Slug or name of the definition; null if it has neither. */
    readonly subject: string | null,
    readonly problems: ErrorDetail[],
  ) {
    super(
      problems
        .map(
          ({ path, message }) => `${subject ?? kind}: ${path === '' ? '' : `${path} `}${message}`,
        )
        .join('\n'),
    );
    this.name = 'DefinitionError';
  }
}
