import { type Command, Option } from 'commander';
import { runStates } from '../triggers/run-states';
import { groups, inScope, paged, withJson } from '../options';

/** What runs by itself, and what happened. */
export function addTriggerCommands(program: Command): void {
  const triggers = program
    .command('triggers')
    .helpGroup(groups.database)
    .description('triggers and their runs (fire: over HTTP)');
  inScope(triggers.command('list'))
    .description('list triggers, with how their runs of the last day ended')
    .action(async (options) => (await import('../commands/triggers-list')).runTriggersList(options));
  paged(inScope(triggers.command('runs')))
    .description('list runs, newest first')
    .argument('[trigger]', 'only those of this trigger, by its slug')
    .addOption(new Option('--status <status>', 'only these').choices(runStates))
    .option('--entity <id>', 'only those about this entity')
    .action(async (trigger, options) => (await import('../commands/triggers-runs')).runTriggersRuns(trigger, options));
  inScope(triggers.command('show'))
    .description('one run step by step')
    .argument('<run>', 'its id')
    .option('--full', 'cut nothing')
    .action(async (run, options) => (await import('../commands/triggers-show')).runTriggersShow(run, options));
  inScope(triggers.command('retry'))
    .description('try dead or cancelled runs again, from the step that failed')
    .argument('<run...>', 'ids, or the slug of a trigger: all of its dead runs')
    .action(async (wanted, options) => (await import('../commands/triggers-retry')).runTriggersRetry(wanted, options));
  inScope(triggers.command('cancel'))
    .description('end runs that are not finished; what they have done stays')
    .argument('<run...>', 'ids, or the slug of a trigger: all of its runs that wait')
    .action(async (wanted, options) =>
      (await import('../commands/triggers-cancel')).runTriggersCancel(wanted, options),
    );
  withJson(triggers.command('fire'))
    .description('run the actions of a trigger now, over HTTP (PARLEY_URL, PARLEY_API_KEY)')
    .argument('<trigger>', 'its slug')
    .option('--entity <id>', 'what the run is about')
    .option('--data <json>', 'a JSON object that actions see as trigger.data')
    .action(async (trigger, options) => (await import('../commands/triggers-fire')).runTriggersFire(trigger, options));

  const events = program.command('events').helpGroup(groups.database).description('what happened in an environment');
  inScope(events.command('tail'))
    .description('events as they happen, until it is interrupted')
    .option('--type <type>', 'only these, such as entity.updated; "entity.*" for all of a namespace')
    .option('--entity <id>', 'only those about this entity')
    .option('--last <n>', 'begin with so many that have happened; default 10')
    .option('--once', 'end after them')
    .action(async (options) => (await import('../commands/events-tail')).runEventsTail(options));
}
