import { detailText } from '@parley/contracts';
import type {
  Deleted,
  Invalid,
  MaskedField,
  NotFound,
  OutOfScope,
  TooLarge,
  TypeNotFound,
} from './result';
import { maxDataBytes } from './write/data-size';

export type EntityFailure =
  TypeNotFound | NotFound | Deleted | OutOfScope | MaskedField | TooLarge | Invalid;

/**
 * The message of a failed operation on entities of `type`, for HTTP and models
 * (docs/reference/errors.md#data-errors).
 */
export function failureText(failure: EntityFailure, type: string): string {
  switch (failure.reason) {
    case 'type_not_found':
      return `Entity type ${type} not found`;
    case 'not_found':
      return 'Entity not found';
    case 'deleted':
      return 'Entity has been deleted';
    case 'out_of_scope':
      return 'Entity not accessible within scope';
    case 'masked_field':
      return `Permission denied: field '${failure.field}' of '${type}' is masked`;
    case 'too_large':
      return `data would have ${failure.bytes} bytes of JSON, and at most ${maxDataBytes} are allowed`;
    case 'invalid':
      return failure.problems.map(detailText).join('; ');
  }
}
