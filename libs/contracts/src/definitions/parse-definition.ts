import { type Checked, check } from '../check';
import { type ResourceKind, type ResourceSet, definitionSchemas } from '../http/sync';

type Definition<K extends ResourceKind> = NonNullable<ResourceSet[K]>[number];

/** Checks the shape of one definition. References to other definitions are checked by a push (libs/resources). */
export const parseDefinition = <K extends ResourceKind>(kind: K, value: unknown) =>
  check(definitionSchemas[kind], value, 'is not a field of this definition') as Checked<Definition<K>>;
