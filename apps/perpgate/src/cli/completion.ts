/** Completion of commands and options for a shell, from the commands themselves. */

import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** A command, or a command and its subcommand, with what may follow it. */
interface Entry {
  readonly words: string;
  readonly about: string;
  readonly next: readonly Word[];
}

interface Word {
  readonly word: string;
  readonly about: string;
}

/** The script that the shell reads at its start. */
export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.filter((command) => command.name() !== "help");
  const entries = commands.flatMap((command) => [
    entryOf(command, command.name()),
    ...command.commands.map((one) => entryOf(one, `${command.name()} ${one.name()}`)),
  ]);
  const root: Entry = { words: "", about: "", next: commands.map(wordOf) };
  return SCRIPTS[shell]([root, ...entries]);
}

function entryOf(command: Command, words: string): Entry {
  const options = command.options.flatMap(({ long, description }) =>
    long == null ? [] : [{ word: long, about: description }],
  );
  const help = { word: "--help", about: "the options of the command" };
  const next = [...command.commands.map(wordOf), ...options, help];
  return { words, about: command.summary(), next };
}

function wordOf(command: Command): Word {
  return { word: command.name(), about: command.summary() };
}

const SCRIPTS: Readonly<Record<Shell, (entries: readonly Entry[]) => string>> = {
  bash: (entries) => `# perpgate completion bash: in ~/.bashrc: source <(perpgate completion bash)
_perpgate() {
  local words
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases(entries)}
  esac
  if (( COMP_CWORD == 1 )); then words="${rootWords(entries)}"; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _perpgate perpgate
`,
  zsh: (entries) => `#compdef perpgate
# perpgate completion zsh: in ~/.zshrc, after compinit: source <(perpgate completion zsh)
_perpgate() {
  local words_of
  case "\${words[2]} \${words[3]}" in
${cases(entries).replaceAll("words=", "words_of=")}
  esac
  if (( CURRENT == 2 )); then words_of="${rootWords(entries)}"; fi
  compadd -- \${=words_of} || _files
}
compdef _perpgate perpgate
`,
  fish: (entries) =>
    [
      "# perpgate completion fish > ~/.config/fish/completions/perpgate.fish",
      ...entries.flatMap(({ words, next }) =>
        next.map(({ word, about }) => fishLine(words, word, about)),
      ),
      "",
    ].join("\n"),
};

/** The longer of two patterns first: a subcommand has options of its own. */
function cases(entries: readonly Entry[]): string {
  return entries
    .filter(({ words }) => words !== "")
    .sort((a, b) => b.words.split(" ").length - a.words.split(" ").length)
    .map(({ words, next }) => {
      const pattern = words.includes(" ") ? `"${words}"` : `"${words} "*`;
      return `    ${pattern}) words="${next.map(({ word }) => word).join(" ")}" ;;`;
    })
    .join("\n");
}

function rootWords([root]: readonly Entry[]): string {
  return (root?.next ?? []).map(({ word }) => word).join(" ");
}

function fishLine(words: string, word: string, about: string): string {
  const when =
    words === ""
      ? "__fish_use_subcommand"
      : words
          .split(" ")
          .map((one) => `__fish_seen_subcommand_from ${one}`)
          .join("; and ");
  const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
  return `complete -c perpgate -n '${when}' ${what} -d '${about.replace(/['\\]/g, "")}'`;
}
