import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './install-packages';
import type { PseudoTerminal } from './pseudo-terminal';

/** The pages of docs/tutorials that tests follow. */
export const tutorials = ['whatsapp-sales-agent', 'support-agent', 'website-chat'];

/**
 * A step of a tutorial: a file to create, or commands with the lines that they print. `at` is the
 * line of the page.
 */
export type TutorialStep =
  | { at: number; kind: 'file'; path: string; content: string }
  | { at: number; kind: 'commands'; commands: string[]; expected: string[] };

/**
 * Reads the steps of a page in docs/tutorials. "Create `path`" before a block names its file. A
 * block of `sh` has one command a line; a block of `text` after it has lines that they print, with
 * `…` for any text.
 */
export function readTutorial(name: string): TutorialStep[] {
  const page = readFileSync(join(root, 'docs', 'tutorials', `${name}.md`), 'utf8');
  const steps: TutorialStep[] = [];
  let before = 0;
  for (const found of page.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    const [whole, language, text] = found as unknown as [string, string, string];
    const at = page.slice(0, found.index).split('\n').length;
    const created = [...page.slice(before, found.index).matchAll(/\bCreate `([^`]+)`/g)].at(
      -1,
    )?.[1];
    const last = steps.at(-1);
    before = found.index + whole.length;
    if (created !== undefined) steps.push({ at, kind: 'file', path: created, content: text });
    else if (language === 'sh')
      steps.push({ at, kind: 'commands', commands: commandsOf(text), expected: [] });
    else if (language === 'text' && last?.kind === 'commands')
      last.expected = text.trim().split('\n');
    else
      throw new Error(
        `${name}.md:${at}: the block is neither a file nor commands nor their output`,
      );
  }
  return steps;
}

/** A command may continue after a backslash. */
const commandsOf = (text: string): string[] => text.trim().split(/(?<!\\)\n/);

export function createFile(
  folder: string,
  { path, content }: { path: string; content: string },
): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

const prompt = /\[(\d+)\]ready> $/;

/**
 * Types the commands of a step, one after the other, as a person does. Returns what they printed.
 * Throws if one fails.
 */
export async function typeCommands(terminal: PseudoTerminal, commands: string[]): Promise<string> {
  let printed = '';
  for (const command of commands) {
    terminal.type(`${command}\r`);
    const shown = (await terminal.shows(prompt))
      .replaceAll(/\x1b\[[\d;?]*[a-zA-Z]/g, '')
      .replaceAll('\r', '');
    if (prompt.exec(shown)?.[1] !== '0') throw new Error(`${command}\n${shown}`);
    printed += shown;
  }
  return printed;
}

/** Opens the shell of a tutorial, whose prompt shows the status of the last command. */
export async function openShell(terminal: PseudoTerminal): Promise<void> {
  terminal.type(
    `PS1='[$?]rea''dy> '; bind 'set enable-bracketed-paste off'; stty -echo cols 1000\r`,
  );
  await terminal.shows(prompt);
}

/** Throws if a line is missing in the output, in the order of the page. */
export function expectLines(printed: string, expected: string[]): void {
  let from = 0;
  for (const line of expected) {
    const pattern = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const found = new RegExp(pattern.join('.*')).exec(printed.slice(from));
    if (found === null) throw new Error(`no line "${line}" in:\n${printed.slice(from)}`);
    from += found.index + found[0].length;
  }
}
