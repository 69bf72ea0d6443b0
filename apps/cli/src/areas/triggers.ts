import { type Command, Option } from 'commander';
import { runStatuses } from '../statuses';
import { groups, ofKey, paged, withJson } from '../options';

/** Commands for triggers, their runs and events. */
export function addTriggerCommands(program: Command): void {
  const triggers = program
    .command('triggers')
    .helpGroup(groups.http)
    .description('triggers and their runs');
  ofKey(triggers.command('list'))
    .description('list triggers with the number of their runs of the last day by status')
    .action(async (options) =>
      (await import('../commands/triggers-list')).runTriggersList(options),
    );
  paged(ofKey(triggers.command('runs')))
    .description('list runs, newest first')
    .argument('[trigger]', 'slug: only runs of this trigger')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(runStatuses))
    .option('--entity <id>', 'only runs for this entity')
    .action(async (trigger, options) =>
      (await import('../commands/triggers-runs')).runTriggersRuns(trigger, options),
    );
  ofKey(triggers.command('show'))
    .description('show the steps of a run')
    .argument('<run>', 'id of the run')
    .option('--full', 'do not shorten long texts')
    .action(async (run, options) =>
      (await import('../commands/triggers-show')).runTriggersShow(run, options),
    );
  ofKey(triggers.command('retry'))
    .description('retry dead or cancelled runs from the step that failed')
    .argument('<run...>', 'ids of runs, or the slug of a trigger to retry all of its dead runs')
    .action(async (names, options) =>
      (await import('../commands/triggers-change')).runTriggersChange('retry', names, options),
    );
  ofKey(triggers.command('cancel'))
    .description('cancel runs that are not finished; effects of finished steps remain')
    .argument(
      '<run...>',
      'ids of runs, or the slug of a trigger to cancel all of its scheduled runs',
    )
    .action(async (names, options) =>
      (await import('../commands/triggers-change')).runTriggersChange('cancel', names, options),
    );
  for (const [name, effect] of [
    ['disable', 'disable a trigger until it is enabled or a push changes it'],
    ['enable', 'enable a trigger that disable has disabled'],
  ] as const)
    ofKey(triggers.command(name))
      .description(effect)
      .argument('<trigger>', 'slug of the trigger')
      .action(async (slug, options) =>
        (await import('../commands/triggers-change')).runTriggersSwitch(
          name === 'enable',
          slug,
          options,
        ),
      );
  withJson(triggers.command('fire'))
    .description('run the actions of a trigger now, with a key that has the permission sync')
    .argument('<trigger>', 'slug of the trigger')
    .option('--entity <id>', 'entity of the run')
    .option('--data <json>', 'JSON object with the values of {{trigger.data.…}}')
    .action(async (trigger, options) =>
      (await import('../commands/fire')).runFire(trigger, options),
    );

  const events = program
    .command('events')
    .helpGroup(groups.http)
    .description('changes of entities, and events emitted by tools');
  ofKey(events.command('tail'))
    .description('print events as they happen, until interrupted')
    .option('--type <type>', 'only events of this type, such as entity.updated or "entity.*"')
    .option('--entity <id>', 'only events of this entity')
    .option('--last <n>', 'number of past events to print first (default: 10)')
    .option('--once', 'print past events only, then exit')
    .action(async (options) => (await import('../commands/events-tail')).runEventsTail(options));
}
