import { type Command, Option } from 'commander';
import { formats } from '@parley/rows';
import { groups, withJson } from '../options';

/** Commands for entities. They need a key with the `data` permission. */
export function addDataCommands(program: Command): void {
  const data = program
    .command('data')
    .helpGroup(groups.http)
    .description("entities of the key's environment");
  const page = (command: Command) =>
    withJson(command)
      .option('--limit <n>', 'maximum number of entities, 1 to 100 (default: 50)')
      .option('--cursor <cursor>', 'next page: the cursor that the previous page printed')
      .option('--status <status>', 'only entities with this lifecycle status');
  const write = (command: Command) =>
    withJson(command).option('--status <status>', 'lifecycle status to set');

  page(data.command('list'))
    .description('list entities, newest first')
    .argument('<type>')
    .action(async (type, options) =>
      (await import('../commands/data-list')).runDataList(type, options),
    );
  withJson(data.command('get'))
    .description('show an entity')
    .argument('<type>')
    .argument('<id>')
    .action(async (type, id, options) =>
      (await import('../commands/data-get')).runDataGet(type, id, options),
    );
  write(data.command('create'))
    .description('create an entity')
    .argument('<type>')
    .argument('<data>', 'a JSON object, @file, or - for standard input')
    .action(async (type, text, options) =>
      (await import('../commands/data-create')).runDataCreate(type, text, options),
    );
  write(data.command('update'))
    .description('change fields of an entity; other fields are kept')
    .argument('<type>')
    .argument('<id>')
    .argument('<data>', 'a JSON object, @file, or - for standard input')
    .action(async (type, id, text, options) =>
      (await import('../commands/data-update')).runDataUpdate(type, id, text, options),
    );
  withJson(data.command('delete'))
    .description('soft-delete an entity; data update --status active restores it')
    .argument('<type>')
    .argument('<id>')
    .action(async (type, id, options) =>
      (await import('../commands/data-delete')).runDataDelete(type, id, options),
    );
  page(data.command('query'))
    .description('list entities that match filters')
    .argument('<type>')
    .argument(
      '[filters]',
      'a JSON object such as {"data.price":{"$lt":20}}, @file, or - for standard input',
    )
    .option('--sort <field[:asc|desc]>', 'sort order, such as data.price:asc')
    .action(async (type, filters, options) =>
      (await import('../commands/data-query')).runDataQuery(type, filters, options),
    );
  withJson(data.command('search'))
    .description("search the text of the type's search fields")
    .argument('<type>')
    .argument('<words...>')
    .option('--limit <n>', 'maximum number of entities, 1 to 100 (default: 20)')
    .option('--status <status>', 'only entities with this lifecycle status')
    .action(async (type, words, options) =>
      (await import('../commands/data-search')).runDataSearch(type, words, options),
    );
  withJson(data.command('import'))
    .description(
      'create an entity from each row of a file; run it again to resume after an interruption',
    )
    .argument('<type>')
    .argument('<file>', 'CSV with a header, or JSON lines')
    .addOption(new Option('--format <format>', 'default: from the file name').choices(formats))
    .option('--again', 'import all rows of a file that was imported before as new entities')
    .action(async (type, file, options) =>
      (await import('../commands/data-import')).runDataImport(type, file, options),
    );
  withJson(data.command('export'))
    .description('export all entities as CSV or JSON lines')
    .argument('<type>')
    .option(
      '--out <file>',
      'write to a file, - for standard output (default); run it again to resume after an interruption',
    )
    .addOption(
      new Option('--format <format>', 'default: from the file name, or jsonl').choices(formats),
    )
    .option('--filters <json>', 'only entities that match these filters')
    .option('--status <status>', 'only entities with this lifecycle status')
    .option(
      '--keep-formulas',
      'CSV: do not put an apostrophe before text that a spreadsheet would run as a formula',
    )
    .option('--force', 'overwrite an existing file')
    .action(async (type, options) =>
      (await import('../commands/data-export')).runDataExport(type, options),
    );
}
