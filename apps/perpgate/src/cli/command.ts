/** How the commands of the command line are declared. Their code is loaded when they are called. */

import { Command } from "commander";

export interface CommandText {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Each form of the call, without `perpgate` and the command's name. */
  readonly usage: readonly string[];
  readonly about: string;
  /** A call, without `perpgate`, and what it does. */
  readonly examples: readonly (readonly [call: string, meaning: string])[];
}

export function addCommand(program: Command, name: string, text: CommandText): Command {
  const width = Math.max(...text.examples.map(([call]) => call.length));
  const examples = text.examples.map(
    ([call, meaning]) => `  perpgate ${call.padEnd(width)}  # ${meaning}`,
  );
  return program
    .command(name)
    .summary(text.summary)
    .usage(text.usage.join(`\n       perpgate ${name} `))
    .description(text.about)
    .addHelpText("after", ["", "Examples:", ...examples].join("\n"));
}

/** `parent` is of `addCommand`, whose help text explains all of them. */
export function addSubcommand(parent: Command, name: string, about: string): Command {
  const command = new Command(name).description(about).copyInheritedSettings(parent);
  parent.addCommand(command);
  return command;
}

/** An action whose result becomes the exit code of the process. */
export function exitWith<Args extends unknown[]>(
  run: (...args: Args) => Promise<number>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    process.exitCode = await run(...args);
  };
}
