import type { JsonObject } from '@parley/contracts';
import { validateRole } from './validate-role';

const known = {
  entityTypes: new Set(['order', 'customer']),
  tools: new Set(['web.fetch', 'orders.refund', 'entity.get', 'whatsapp.send', 'email.send']),
};

const role = (more: JsonObject) =>
  validateRole({ slug: 'clerk', name: 'Clerk', policies: [], ...more }, known);
const policy = (resource: string, ...actions: string[]) =>
  role({ policies: [{ resource, actions, effect: 'allow' }] });
const rule = (more: JsonObject) =>
  role({
    scopeRules: [{ entityType: 'order', field: 'data.owner', operator: 'eq', value: 'x', ...more }],
  });
const mask = (more: JsonObject) =>
  role({ fieldMasks: [{ entityType: 'order', fieldPath: 'email', maskType: 'hide', ...more }] });

describe('a valid role has no problems', () => {
  it.each(
    [
      policy('*', '*'),
      policy('order', 'create', 'read', 'update', 'delete', 'list'),
      policy('order', '*'),
      policy('web.fetch', 'execute'),
      policy('orders.refund', '*'),
      policy('orders.*', 'execute'),
      policy('whatsapp.*', 'execute', 'reach'),
      policy('email.send', 'reach'),
      rule({}),
      rule({ value: null }),
      rule({ field: 'owner' }),
      rule({ field: 'data.a.b', operator: '$neq', value: 7 }),
      rule({ field: 'id', value: 'actor.entityId' }),
      rule({ field: 'status', operator: 'in', value: ['active', 'actor.userId'] }),
      rule({ operator: 'in', value: 'actor.relatedIds:customer' }),
      rule({ value: 'actor.relatedIds:customer', anyOf: 'mine' }),
      rule({ operator: 'nin', value: 'actor.relatedIds:order' }),
      rule({ operator: 'in', value: 'actor.userId' }),
      rule({ operator: 'exists', value: false }),
      rule({ operator: 'gte', value: 3 }),
      rule({ operator: 'contains', value: 'x' }),
      rule({ value: 'an actor of note' }),
      mask({}),
      mask({ fieldPath: 'data.address.street', maskType: 'redact' }),
    ].map((problems) => ({ problems })),
  )('%#', ({ problems }) => {
    expect(problems).toEqual([]);
  });
});

describe('a role is refused', () => {
  it.each<[string, ReturnType<typeof role>, string, string]>([
    ['with no policies', validateRole({ slug: 'a', name: 'A' }, known), 'policies', 'is required'],
    ['with an unknown key', role({ scopeRule: [] }), 'scopeRule', 'is not a known field'],
    [
      'for a missing entity type',
      policy('ordr', 'read'),
      'policies.0.resource',
      '"ordr" is neither',
    ],
    [
      'for a missing tool',
      policy('web.fetsh', 'execute'),
      'policies.0.resource',
      '"web.fetsh" is neither',
    ],
    [
      'for a namespace without tools',
      policy('webb.*', '*'),
      'policies.0.resource',
      '"webb.*" is neither',
    ],
    [
      'for a tool of entities',
      policy('entity.get', 'execute'),
      'policies.0.resource',
      'by the entity type',
    ],
    [
      'for entities as a namespace',
      policy('entity.*', '*'),
      'policies.0.resource',
      'by the entity type',
    ],
    ['with an unknown action', policy('order', 'write'), 'policies.0.actions.0', 'create'],
    ['executing an entity type', policy('order', 'execute'), 'policies.0.actions', 'is for tools'],
    [
      'reaching an entity type',
      policy('order', 'reach'),
      'policies.0.actions',
      '"reach" is for tools',
    ],
    [
      'reaching by another tool',
      policy('web.fetch', 'reach'),
      'policies.0.actions',
      'only know "execute"',
    ],
    ['reading a tool', policy('web.fetch', 'read'), 'policies.0.actions', 'only know "execute"'],
    [
      'with a misspelled operator',
      rule({ operator: 'equals' }),
      'scopeRules.0.operator',
      'not an operator; known are $eq',
    ],
    [
      'with a misspelled operator in $',
      rule({ operator: '$gtt' }),
      'scopeRules.0.operator',
      'not an operator',
    ],
    [
      'with a rule for a missing entity type',
      rule({ entityType: 'orders' }),
      'scopeRules.0.entityType',
      '"orders" is not an entity type',
    ],
    ['with an invalid path', rule({ field: 'data..owner' }), 'scopeRules.0.field', 'data.<field>'],
    ['without a path', rule({ field: 'data' }), 'scopeRules.0.field', 'data.<field>'],
    [
      'with an unknown dynamic value',
      rule({ value: 'actor.userID' }),
      'scopeRules.0.value',
      '"actor.userID" is not known',
    ],
    [
      'with a dynamic value in upper case',
      rule({ value: 'Actor.userId' }),
      'scopeRules.0.value',
      'is not known',
    ],
    [
      'with a dynamic value in braces',
      rule({ value: '{{actor.userId}}' }),
      'scopeRules.0.value',
      'is not known',
    ],
    [
      'with a dynamic value in a list',
      rule({ operator: 'in', value: ['actor.me'] }),
      'scopeRules.0.value',
      'is not known',
    ],
    [
      'with relations to a missing entity type',
      rule({ value: 'actor.relatedIds:customers' }),
      'scopeRules.0.value',
      '"customers", which',
    ],
    [
      'with relations without an entity type',
      rule({ value: 'actor.relatedIds' }),
      'scopeRules.0.value',
      'is not known',
    ],
    [
      'ordering related ids',
      rule({ operator: 'gt', value: 'actor.relatedIds:order' }),
      'scopeRules.0.value',
      'is a list',
    ],
    [
      'with in and one value',
      rule({ operator: 'in', value: 'x' }),
      'scopeRules.0.value',
      '$in takes an array',
    ],
    [
      'with exists and text',
      rule({ operator: 'exists', value: 'yes' }),
      'scopeRules.0.value',
      '$exists takes true or false',
    ],
    [
      'ordering a list',
      rule({ operator: 'lt', value: [1] }),
      'scopeRules.0.value',
      'takes a number or a string',
    ],
    [
      'containing an object',
      rule({ operator: 'contains', value: {} }),
      'scopeRules.0.value',
      '$contains takes a string',
    ],
    [
      'with a mask for a missing entity type',
      mask({ entityType: 'ordre' }),
      'fieldMasks.0.entityType',
      '"ordre" is not an entity type',
    ],
    [
      'with a mask on an invalid path',
      mask({ fieldPath: 'a..b' }),
      'fieldMasks.0.fieldPath',
      'names joined by dots',
    ],
    ['with an unknown kind of mask', mask({ maskType: 'blur' }), 'fieldMasks.0.maskType', 'hide'],
  ])('%s', (_name, problems, path, message) => {
    expect(problems).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  it('with every problem at once', () => {
    const rules = [{ entityType: 'x', field: 'a..y', operator: 'eq', value: 'actor.z' }];
    const policies = [{ resource: 'missing', actions: ['read'], effect: 'deny' }];
    expect(role({ policies, scopeRules: rules }).map(({ path }) => path)).toEqual([
      'policies.0.resource',
      'scopeRules.0.entityType',
      'scopeRules.0.field',
      'scopeRules.0.value',
    ]);
  });
});
