import type { Command } from 'commander';
import { usageFailure } from '../failure';
import { print, printJson } from '../terminal';
import { ownValue } from '@parley/contracts';

/**
 * Each script calls `parley complete` for the candidates, so that it matches the installed version.
 */
const scripts: Record<string, string> = {
  bash: `_parley() {
  local IFS=$'\\n'
  COMPREPLY=($(parley complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _parley parley`,
  zsh: `#compdef parley
_parley() {
  local -a found
  found=("\${(@f)$(parley complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -- $found; else _files; fi
}
compdef _parley parley`,
  fish: `complete -c parley -f -a '(set -l words (commandline -opc) (commandline -ct); parley complete -- $words[2..-1] 2>/dev/null)'`,
};

/** `parley completion bash|zsh|fish`: prints the script that the shell sources. */
export function runCompletion(shell: string, { json }: { json?: boolean } = {}): void {
  const script = ownValue(scripts, shell);
  if (script === undefined)
    throw usageFailure(`Completion supports ${Object.keys(scripts).join(', ')}, not "${shell}"`);
  if (json) printJson({ shell, script });
  else print(script);
}

/**
 * Returns the candidates for the last word, which is being typed. `tools` are those of arguments
 * that name a tool.
 */
export function completionsOf(
  program: Command,
  words: readonly string[],
  tools: readonly string[] = [],
): string[] {
  const { typed, previous, prefix } = readLast(words);
  let command = program;
  for (const word of words.slice(0, -1)) {
    command = command.commands.find((subcommand) => subcommand.name() === word) ?? command;
  }
  const option = command.options.find(({ long }) => long === previous);
  if (option?.argChoices !== undefined)
    return option.argChoices
      .filter((choice) => choice.startsWith(typed))
      .map((choice) => prefix + choice);
  const candidates = typed.startsWith('-')
    ? command.options.flatMap(({ long }) => long ?? [])
    : [
        ...command.commands.map((subcommand) => subcommand.name()),
        ...command.registeredArguments.flatMap((argument) =>
          argument.name() === 'tool' ? tools : (argument.argChoices ?? []),
        ),
      ];
  return candidates.filter((name) => name.startsWith(typed) && name !== 'complete');
}

/**
 * `--option=value` is one word in zsh and fish. In bash it is three words, of which the
 * last is completed.
 */
function readLast(words: readonly string[]): {
  typed: string;
  previous: string | undefined;
  prefix: string;
} {
  const [last = '', previous, beforeThat] = words.toReversed();
  if (last === '=') return { typed: '', previous, prefix: '' };
  if (previous === '=') return { typed: last, previous: beforeThat, prefix: '' };
  const joined = /^(--[\w-]+)=(.*)$/.exec(last);
  if (joined) return { typed: joined[2]!, previous: joined[1], prefix: `${joined[1]}=` };
  return { typed: last, previous, prefix: '' };
}
