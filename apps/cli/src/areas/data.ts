import { type Command, Option } from 'commander';
import { formats } from '../data/rows';
import { groups, withJson } from '../options';

/** Entities, with a key that has the `data` permission. */
export function addDataCommands(program: Command): void {
  const data = program.command('data').helpGroup(groups.http).description('entities of the environment of the key');
  const page = (command: Command) =>
    withJson(command)
      .option('--limit <n>', 'at most so many, 1 to 100; default 50')
      .option('--cursor <cursor>', 'go on where a page has ended')
      .option('--status <status>', 'only those of this lifecycle status');
  const write = (command: Command) => withJson(command).option('--status <status>', 'lifecycle status');

  page(data.command('list'))
    .description('a page of entities, newest first')
    .argument('<type>')
    .action(async (type, options) => (await import('../commands/data-list')).runDataList(type, options));
  withJson(data.command('get'))
    .description('one entity')
    .argument('<type>')
    .argument('<id>')
    .action(async (type, id, options) => (await import('../commands/data-get')).runDataGet(type, id, options));
  write(data.command('create'))
    .description('make an entity')
    .argument('<type>')
    .argument('<data>', 'a JSON object, @file, or - for the standard input')
    .action(async (type, text, options) =>
      (await import('../commands/data-create')).runDataCreate(type, text, options),
    );
  write(data.command('update'))
    .description('merge fields into an entity')
    .argument('<type>')
    .argument('<id>')
    .argument('<data>', 'a JSON object, @file, or - for the standard input')
    .action(async (type, id, text, options) =>
      (await import('../commands/data-update')).runDataUpdate(type, id, text, options),
    );
  withJson(data.command('delete'))
    .description('soft-delete an entity')
    .argument('<type>')
    .argument('<id>')
    .action(async (type, id, options) => (await import('../commands/data-delete')).runDataDelete(type, id, options));
  page(data.command('query'))
    .description('a page of what filters match')
    .argument('<type>')
    .argument('[filters]', 'a JSON object such as {"data.price":{"$lt":20}}, @file, or -')
    .option('--sort <field[:asc|desc]>', 'such as data.price:asc')
    .action(async (type, filters, options) =>
      (await import('../commands/data-query')).runDataQuery(type, filters, options),
    );
  withJson(data.command('search'))
    .description("full text over the type's search fields")
    .argument('<type>')
    .argument('<words...>')
    .option('--limit <n>', 'at most so many, 1 to 100; default 20')
    .option('--status <status>', 'only those of this lifecycle status')
    .action(async (type, words, options) =>
      (await import('../commands/data-search')).runDataSearch(type, words, options),
    );
  withJson(data.command('import'))
    .description('make an entity of each row of a file; called again it goes on where it was')
    .argument('<type>')
    .argument('<file>', 'CSV with a header, or JSON lines')
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(formats))
    .option('--again', 'import a file once more')
    .action(async (type, file, options) =>
      (await import('../commands/data-import')).runDataImport(type, file, options),
    );
  withJson(data.command('export'))
    .description('every entity as CSV or JSON lines')
    .argument('<type>')
    .option('--out <file>', 'into a file; called again it goes on where it was')
    .addOption(new Option('--format <format>', 'default: by the name of the file, else jsonl').choices(formats))
    .option('--filters <json>', 'only what they match')
    .option('--status <status>', 'only those of this lifecycle status')
    .option('--keep-formulas', 'CSV: do not put an apostrophe before texts that a spreadsheet would run')
    .option('--force', 'write a file anew')
    .action(async (type, options) => (await import('../commands/data-export')).runDataExport(type, options));
}
