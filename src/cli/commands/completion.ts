import { Argument } from 'commander';
import type { DeclareCommand } from '../command.js';
import type { HelpDocument } from '../help-document.js';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

type Shell = (typeof SHELLS)[number];

type Offered = HelpDocument['commands'][number];

export const declareCompletion: DeclareCommand = (command, { terminal }) => {
  command
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .action((shell: Shell) => {
      const offered = (command.parent?.commands ?? []).map((each) => ({
        name: each.name(),
        summary: each.description(),
      }));
      terminal.stdout.write(SCRIPTS[shell](offered));
    });
};

/** Scripts that ask the help of a command for its options only when they are wanted, so that they do not grow old. */
const SCRIPTS: Readonly<Record<Shell, (offered: readonly Offered[]) => string>> = {
  bash: (offered) => `# Completion of flagkeel for bash.
_flagkeel() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${offered.map(({ name }) => name).join(' ')} --help --version" -- "$word"))
  elif [ "\${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$(flagkeel "\${COMP_WORDS[1]}" --help --all 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u)" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _flagkeel flagkeel
`,
  zsh: (offered) => `#compdef flagkeel
# Completion of flagkeel for zsh.
_flagkeel() {
  local -a commands options
  commands=(
${offered.map(({ name, summary }) => `    ${quotedForZsh(`${name}:${summary}`)}\n`).join('')}  )
  if (( CURRENT == 2 )); then
    _describe command commands
  elif [[ $words[CURRENT] == -* ]]; then
    options=(\${(f)"$(flagkeel $words[2] --help --all 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u)"})
    compadd -a options
  else
    _files
  fi
}
compdef _flagkeel flagkeel
`,
  fish: (offered) => `# Completion of flagkeel for fish.
${offered.map(fishLine).join('')}complete -c flagkeel -n 'not __fish_use_subcommand' -a '(flagkeel (commandline -opc)[2] --help --all 2>/dev/null | string match -rag -- "(--[a-z][a-z-]*)" | sort -u)'
`,
  powershell: (offered) => `# Completion of flagkeel for PowerShell.
Register-ArgumentCompleter -Native -CommandName flagkeel -ScriptBlock {
  param($word, $line, $cursor)
  $commands = [ordered]@{
${offered.map(({ name, summary }) => `    ${quotedForPowershell(name)} = ${quotedForPowershell(summary)}\n`).join('')}  }
  $words = @($line.CommandElements | ForEach-Object { $_.ToString() })
  if ($words.Count -lt 2 -or ($words.Count -eq 2 -and $word -ne '')) {
    $commands.Keys | Where-Object { $_.StartsWith($word) } | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $commands[$_])
    }
  } elseif ($word.StartsWith('-')) {
    flagkeel $words[1] --help --all 2>$null | Select-String -AllMatches -CaseSensitive -- '--[a-z][a-z-]*' |
      ForEach-Object { $_.Matches.Value } | Sort-Object -Unique | Where-Object { $_.StartsWith($word) }
  }
}
`,
};

function quotedForZsh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** PowerShell takes typographic quotes for quotes, too. */
function quotedForPowershell(text: string): string {
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}

function fishLine({ name, summary }: Offered): string {
  return `complete -c flagkeel -n __fish_use_subcommand -f -a ${name} -d ${quotedForFish(summary)}\n`;
}

function quotedForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
