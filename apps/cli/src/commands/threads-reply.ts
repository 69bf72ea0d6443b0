import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { pathOf } from '../command-io';
import { Failure, usageFailure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { secretOf } from '../secrets';
import { print, printJson } from '../terminal';

export interface ThreadsReplyOptions extends KeyOptions {
  template?: string;
  language?: string;
  file?: string;
}

/**
 * `parley threads reply <thread> [text]`: writes to the contact as a person, who thereby takes
 * the thread over.
 */
export async function runThreadsReply(
  id: string,
  given: string | undefined,
  options: ThreadsReplyOptions,
) {
  const { template: name, language, file } = options;
  if ((name === undefined) !== (language === undefined))
    throw usageFailure('--template and --language need each other');
  const text = await secretOf(given);
  if (name !== undefined && (text ?? file) !== undefined)
    throw usageFailure('A template is sent without text and file');
  if ((text ?? name ?? file) === undefined) throw usageFailure('Give a text, --template or --file');
  const reply = {
    text,
    template: name === undefined ? undefined : { name, language: language! },
    file: file === undefined ? undefined : { filename: basename(file), data: readBase64(file) },
  };
  const stored = await withManage(options, (manage) => manage.replyToThread({ id, ...reply }));
  if (options.json) return printJson(stored);
  const { channelMessageId } = stored;
  print(
    channelMessageId === null
      ? `Stored ${stored.id}. The contact reads it with the messages of the thread.`
      : `Queued ${channelMessageId}.`,
  );
}

function readBase64(file: string): string {
  try {
    return readFileSync(pathOf(file)).toString('base64');
  } catch (error) {
    throw new Failure(`Cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`);
  }
}
