import { type Checked, check } from '../check';
import { type ResourceKind, type ResourceSet, definitionSchemas } from '../http/sync';

type Definition<K extends ResourceKind> = NonNullable<ResourceSet[K]>[number];

/**
 * Checks the shape of one definition. References to other definitions are checked by a push
 * (libs/resources).
 */
export const parseDefinition = <K extends ResourceKind>(kind: K, value: unknown) =>
  // All problems, as a push that continues without the invalid fields must know each.
  check(definitionSchemas[kind], value, Infinity) as Checked<Definition<K>>;
