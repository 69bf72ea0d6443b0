import { detailText } from '@parley/contracts';
import { type EntityFailure, failureText } from '@parley/entities';
import { HttpError, badRequest } from '@parley/service';

const responses: Record<
  Exclude<EntityFailure['reason'], 'invalid'>,
  [status: number, code: string]
> = {
  type_not_found: [404, 'entity_type_not_found'],
  not_found: [404, 'entity_not_found'],
  deleted: [404, 'entity_deleted'],
  out_of_scope: [403, 'out_of_scope'],
  masked_field: [403, 'masked_field'],
  too_large: [413, 'data_too_large'],
};

/**
 * The error response for a failed operation on entities of `type`
 * (docs/reference/errors.md#data-errors). `section`: the section of the request that
 * contains the parameters.
 */
export function entityFailure(
  failure: EntityFailure,
  type: string,
  section: 'body' | 'query' = 'body',
): HttpError {
  if (failure.reason === 'invalid')
    return badRequest(detailText(failure.problems[0]!), failure.problems, `invalid_${section}`);
  const [status, code] = responses[failure.reason];
  return new HttpError(status, code, failureText(failure, type));
}
