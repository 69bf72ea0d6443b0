import type { Policy } from '@parley/contracts';
import fc from 'fast-check';
import { type Action, decide, matchesName } from './policy';

const actions: Action[] = ['create', 'read', 'update', 'delete', 'list', 'execute'];
const allow = (resource: string, ...actions: Policy['actions']): Policy => ({
  resource,
  actions,
  effect: 'allow',
});
const deny = (resource: string, ...actions: Policy['actions']): Policy => ({
  resource,
  actions,
  effect: 'deny',
});

const lacking = (action: Action, resource: string) =>
  `Permission denied: cannot perform '${action}' on '${resource}'`;
const byPolicy = 'Permission denied: denied by policy';

describe('decide', () => {
  it.each<[string, Policy[], Action, string, string | null]>([
    ['no policy denies', [], 'read', 'order', lacking('read', 'order')],
    ['an allow allows', [allow('order', 'read')], 'read', 'order', null],
    [
      'an allow applies only to its action',
      [allow('order', 'read')],
      'delete',
      'order',
      lacking('delete', 'order'),
    ],
    [
      'an allow applies only to its resource',
      [allow('order', 'read')],
      'read',
      'customer',
      lacking('read', 'customer'),
    ],
    [
      'an allow does not apply to a prefix',
      [allow('order', 'read')],
      'read',
      'orders',
      lacking('read', 'orders'),
    ],
    [
      'read does not include list',
      [allow('order', 'read')],
      'list',
      'order',
      lacking('list', 'order'),
    ],
    ['any action', [allow('order', '*')], 'delete', 'order', null],
    [
      'any action of another resource',
      [allow('order', '*')],
      'delete',
      'customer',
      lacking('delete', 'customer'),
    ],
    ['any resource', [allow('*', 'read')], 'read', 'customer', null],
    [
      'any resource, another action',
      [allow('*', 'read')],
      'update',
      'customer',
      lacking('update', 'customer'),
    ],
    ['everything', [allow('*', '*')], 'execute', 'web.fetch', null],
    ['a namespace', [allow('payment.*', 'execute')], 'execute', 'payment.create', null],
    [
      'a namespace is not a prefix',
      [allow('pay.*', 'execute')],
      'execute',
      'payment.create',
      lacking('execute', 'payment.create'),
    ],
    [
      'a namespace is not its name',
      [allow('payment.*', '*')],
      'read',
      'payment',
      lacking('read', 'payment'),
    ],
    [
      'several allows are combined',
      [allow('order', 'read'), allow('order', 'list')],
      'list',
      'order',
      null,
    ],
    [
      'a deny after an allow wins',
      [allow('order', '*'), deny('order', 'delete')],
      'delete',
      'order',
      byPolicy,
    ],
    [
      'a deny before an allow wins',
      [deny('order', 'delete'), allow('order', '*')],
      'delete',
      'order',
      byPolicy,
    ],
    [
      'a deny applies only to its action',
      [deny('order', 'delete'), allow('order', '*')],
      'update',
      'order',
      null,
    ],
    [
      'a deny applies only to its resource',
      [deny('order', '*'), allow('*', '*')],
      'read',
      'customer',
      null,
    ],
    [
      'a deny of all wins over one',
      [allow('order', 'read'), deny('*', 'read')],
      'read',
      'order',
      byPolicy,
    ],
    [
      'a deny of any action wins',
      [allow('order', 'read'), deny('order', '*')],
      'read',
      'order',
      byPolicy,
    ],
    [
      'a deny of one wins over all',
      [allow('*', '*'), deny('order', 'read')],
      'read',
      'order',
      byPolicy,
    ],
    ['a deny of everything', [allow('*', '*'), deny('*', '*')], 'read', 'order', byPolicy],
    ['a deny alone', [deny('order', 'read')], 'read', 'order', byPolicy],
    [
      'a deny of a namespace',
      [allow('*', '*'), deny('web.*', 'execute')],
      'execute',
      'web.fetch',
      byPolicy,
    ],
  ])('%s', (_name, policies, action, resource, message) => {
    expect(decide(policies, action, resource)).toEqual(
      message === null ? { allowed: true } : { allowed: false, message },
    );
  });

  it('is independent of order, and a deny never allows more', () => {
    const policy: fc.Arbitrary<Policy> = fc.record({
      resource: fc.constantFrom('order', 'customer', 'web.fetch', 'web.*', '*'),
      actions: fc.array(fc.constantFrom<Policy['actions'][number]>(...actions, '*'), {
        minLength: 1,
        maxLength: 3,
      }),
      effect: fc.constantFrom('allow', 'deny'),
    });
    fc.assert(
      fc.property(
        fc.array(policy, { maxLength: 6 }),
        fc.constantFrom(...actions),
        fc.constantFrom('order', 'customer', 'web.fetch'),
        (policies, action, resource) => {
          const decision = decide(policies, action, resource);
          expect(decide(policies.toReversed(), action, resource)).toEqual(decision);
          const applies = policies.filter(
            (one) =>
              matchesName(one.resource, resource) &&
              one.actions.some((each) => each === action || each === '*'),
          );
          const isAllowed = applies.length > 0 && applies.every(({ effect }) => effect === 'allow');
          expect(decision.allowed).toBe(isAllowed);
          expect(decide([...policies, deny('*', '*')], action, resource)).toEqual({
            allowed: false,
            message: byPolicy,
          });
        },
      ),
    );
  });
});
