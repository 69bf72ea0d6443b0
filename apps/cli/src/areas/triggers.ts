import { type Command, Option } from 'commander';
import { runStatuses } from '../statuses';
import { groups, inScope, paged, withJson } from '../options';

/** Commands for triggers, their runs and events. */
export function addTriggerCommands(program: Command): void {
  const triggers = program.command('triggers').helpGroup(groups.database).description('triggers and their runs');
  inScope(triggers.command('list'))
    .description('list triggers with the number of their runs of the last day by status')
    .action(async (options) => (await import('../commands/triggers-list')).runTriggersList(options));
  paged(inScope(triggers.command('runs')))
    .description('list runs, newest first')
    .argument('[trigger]', 'slug: only runs of this trigger')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(runStatuses))
    .option('--entity <id>', 'only runs for this entity')
    .action(async (trigger, options) => (await import('../commands/triggers-runs')).runTriggersRuns(trigger, options));
  inScope(triggers.command('show'))
    .description('show the steps of a run')
    .argument('<run>', 'id of the run')
    .option('--full', 'do not shorten long texts')
    .action(async (run, options) => (await import('../commands/triggers-show')).runTriggersShow(run, options));
  inScope(triggers.command('retry'))
    .description('retry dead or cancelled runs from the step that failed')
    .argument('<run...>', 'ids of runs, or the slug of a trigger to retry all of its dead runs')
    .action(async (names, options) => (await import('../commands/triggers-retry')).runTriggersRetry(names, options));
  inScope(triggers.command('cancel'))
    .description('cancel runs that are not finished; effects of finished steps remain')
    .argument('<run...>', 'ids of runs, or the slug of a trigger to cancel all of its scheduled runs')
    .action(async (names, options) => (await import('../commands/triggers-cancel')).runTriggersCancel(names, options));
  withJson(triggers.command('fire'))
    .description('run the actions of a trigger now, through the HTTP API (PARLEY_URL, PARLEY_API_KEY)')
    .argument('<trigger>', 'slug of the trigger')
    .option('--entity <id>', 'entity of the run')
    .option('--data <json>', 'JSON object with the values of {{trigger.data.…}}')
    .action(async (trigger, options) => (await import('../commands/fire')).runFire(trigger, options));

  const events = program
    .command('events')
    .helpGroup(groups.database)
    .description('changes of entities, and events emitted by tools');
  inScope(events.command('tail'))
    .description('print events as they happen, until interrupted')
    .option('--type <type>', 'only events of this type, such as entity.updated or "entity.*"')
    .option('--entity <id>', 'only events of this entity')
    .option('--last <n>', 'number of past events to print first (default: 10)')
    .option('--once', 'print past events only, then exit')
    .action(async (options) => (await import('../commands/events-tail')).runEventsTail(options));
}
