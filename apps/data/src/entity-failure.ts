import type { Deleted, Invalid, MaskedField, NotFound, OutOfScope, TypeNotFound } from '@parley/entities';
import { type HttpError, badRequest, forbidden, notFound } from '@parley/service';

type EntityFailure = TypeNotFound | NotFound | Deleted | OutOfScope | MaskedField | Invalid;

/** What the Data API answers when an operation on entities of `type` does not succeed (decisions.md, Data API). */
export function entityFailure(failure: EntityFailure, type: string): HttpError {
  switch (failure.reason) {
    case 'type_not_found':
      return notFound(`Entity type ${type} not found`, 'entity_type_not_found');
    case 'not_found':
      return notFound('Entity not found', 'entity_not_found');
    case 'deleted':
      return notFound('Entity has been deleted', 'entity_deleted');
    case 'out_of_scope':
      return forbidden('Entity not accessible within scope', 'out_of_scope');
    case 'masked_field':
      return forbidden(`Field ${failure.field} is not accessible to the key's role`, 'masked_field');
    case 'invalid': {
      const { path, message } = failure.problems[0]!;
      // What is wrong with a filter or a cursor says so itself; a field of `data` may be called anything.
      const isNamed = !/^data(\.|$)/.test(path);
      return badRequest(isNamed ? message : `${path}: ${message}`, failure.problems, 'invalid_body');
    }
  }
}
