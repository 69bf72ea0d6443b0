import type { TriggerDefinition } from '@parley/contracts';
import type { FollowedChange } from '@parley/entities';
import { templateNodes } from '@parley/tools';
import { changedTimePattern } from './plan-run-time';

/** The changes of entities that enabled triggers follow, for `setFollowedChanges`. */
export const followedChanges = (triggers: readonly TriggerDefinition[]): FollowedChange[] =>
  triggers.flatMap(({ enabled, ...trigger }) =>
    enabled === false || !('entityType' in trigger.on)
      ? []
      : [
          {
            entityType: trigger.on.entityType,
            action: trigger.on.action,
            keys: namedKeys(trigger),
          },
        ],
  );

/**
 * The keys of `data` and `previousData` that a trigger's conditions and templates name. Null if one
 * reads a whole object.
 */
function namedKeys({ on, schedule, actions }: Omit<TriggerDefinition, 'enabled'>): string[] | null {
  const at = schedule?.at ?? '';
  const templates = [at, ...actions.map(({ args }) => args)].flatMap(templateNodes);
  const paths = [
    ...Object.keys(('condition' in on && on.condition) || {}),
    ...(changedTimePattern.test(at) ? [at.replace(/^trigger\./, '')] : []),
    ...templates.flatMap((node) => {
      const [root, ...path] = node.kind === 'variable' ? node.name.split('.') : [];
      return root === 'trigger' ? [path.join('.')] : [];
    }),
  ];
  const keys = new Set<string>();
  for (const path of paths) {
    const [object, key] = path.split('.');
    const isData = object === 'data' || object === 'previousData';
    if (object === '' || (isData && key === undefined)) return null;
    if (isData) keys.add(key!);
  }
  return [...keys];
}
