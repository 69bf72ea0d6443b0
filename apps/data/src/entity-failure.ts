import { detailText } from '@parley/contracts';
import { type EntityFailure, failureText } from '@parley/entities';
import { HttpError, badRequest } from '@parley/service';

const answers: Record<Exclude<EntityFailure['reason'], 'invalid'>, [status: number, code: string]> = {
  type_not_found: [404, 'entity_type_not_found'],
  not_found: [404, 'entity_not_found'],
  deleted: [404, 'entity_deleted'],
  out_of_scope: [403, 'out_of_scope'],
  masked_field: [403, 'masked_field'],
};

/**
 * What the Data API answers when an operation on entities of `type` does not succeed (decisions.md, Data API). `place`:
 * where the request says what may be wrong with it.
 */
export function entityFailure(failure: EntityFailure, type: string, place: 'body' | 'query' = 'body'): HttpError {
  if (failure.reason === 'invalid')
    return badRequest(detailText(failure.problems[0]!), failure.problems, `invalid_${place}`);
  const [status, code] = answers[failure.reason];
  return new HttpError(status, code, failureText(failure, type));
}
