/**
 * The command line: words in, one command run. Every problem with the words is a UsageError, which
 * names the problem and how the command is called.
 */

import { Command, CommanderError } from "commander";
import { addCommand } from "./cli/command.js";
import { completionScript, SHELLS } from "./cli/completion.js";
import { nearest } from "./cli/similar.js";
import { UsageError } from "./cli/start-error.js";
import { oneOf } from "./cli/values.js";
import { addExportCommand } from "./export/export-command.js";
import { addOperatorCommands } from "./operator/commands.js";
import { addSandboxCommand } from "./sandbox/commands.js";
import { addAccountReads, addLedger, addWithdrawals } from "./trader/account-reads.js";
import { addMarketReads } from "./trader/market-commands.js";
import { addOrderCommands } from "./trader/order-commands.js";
import { addPositionCommands } from "./trader/position-commands.js";
import { addReceiptCommands } from "./trader/receipt-commands.js";
import {
  addDeposit,
  addLogin,
  addLogout,
  addSessions,
  addWithdraw,
} from "./trader/session-commands.js";
import { readVersion } from "./version.js";

const HELP_COLUMNS = 100;
const DEFAULT_COMMAND = "serve";

const AFTER_HELP = `
perpgate <command> --help shows the options of a command and examples.

A flag wins over the environment, the environment over the file, the file over the default.

Exit codes: 0 done, 1 refused or failed, 2 written wrongly.`;

/** Commands set the exit code of the process when they are done. */
export function createProgram(): Command {
  const program = new Command("perpgate")
    .usage("<command> [options]")
    .description("A perpetual-futures testnet: its gateway, and a trader's tools.")
    .version(
      `${readVersion()}, Node ${process.versions.node}`,
      "-v, --version",
      "the release and the Node that runs it",
    )
    .helpOption("-h, --help", "this text")
    .helpCommand(false)
    .configureHelp({ helpWidth: HELP_COLUMNS })
    .configureOutput({ writeErr: () => undefined })
    .exitOverride();
  addTraderCommands(program);
  addExportCommand(program);
  addCompletion(program);
  addOperatorCommands(program);
  addSandboxCommand(program);
  program
    .command("help [command]", { hidden: true })
    .action((name) => (commandOf(program, name) ?? program).outputHelp());
  program.addHelpText("after", () => `\n${serveOptions(program)}\n${AFTER_HELP}`);
  return program;
}

/** The trader's commands, in the order of the help. They reach a venue through the SDK alone. */
function addTraderCommands(program: Command): void {
  program.commandsGroup("Trade:");
  addLogin(program);
  addLogout(program);
  addOrderCommands(program);
  addPositionCommands(program);
  addAccountReads(program);
  addLedger(program);
  addSessions(program);
  addDeposit(program);
  addWithdraw(program);
  addWithdrawals(program);
  addReceiptCommands(program);
  program.commandsGroup("Look:");
  addMarketReads(program);
}

function addCompletion(program: Command): void {
  addCommand(program, "completion", {
    summary: "completion of commands and options for your shell",
    usage: [SHELLS.join("|")],
    about: `Prints a script for your shell, which completes the commands of perpgate and their options:

  bash  in ~/.bashrc: source <(perpgate completion bash)
  zsh   in ~/.zshrc, after compinit: source <(perpgate completion zsh)
  fish  perpgate completion fish > ~/.config/fish/completions/perpgate.fish`,
    examples: [["completion bash", "print the script for bash"]],
  })
    .argument("<shell>", SHELLS.join(", "), oneOf("shell", SHELLS))
    .action((shell) => {
      process.stdout.write(completionScript(program, shell));
    });
}

export async function runProgram(program: Command, words: readonly string[]): Promise<void> {
  const [first = ""] = words;
  if (/^[^-]/.test(first) && commandOf(program, first) === undefined) {
    const names = program.commands.map((command) => command.name());
    const meant = nearest(first, names);
    const hint = meant === undefined ? "try --help" : `did you mean ${meant}?`;
    throw new UsageError(`unknown command "${first}"; ${hint}`);
  }
  try {
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const command = commandOf(program, first) ?? commandOf(program, DEFAULT_COMMAND);
    if (error instanceof CommanderError) {
      throw new UsageError(problemOf(program, error, words, command));
    }
    if (error instanceof UsageError) throw new UsageError(`${error.message}; ${usageOf(command)}`);
    throw error;
  }
}

function problemOf(
  program: Command,
  { code, message }: CommanderError,
  words: readonly string[],
  command: Command | undefined,
): string {
  const problem =
    code === "commander.help"
      ? "a subcommand is missing"
      : message.replace(/^error: /, "").replace(/\.$/, "");
  // Flags before a command's name are read as those of the default command.
  const misplaced = words.slice(1).find((word) => commandOf(program, word) !== undefined);
  if (command?.name() !== DEFAULT_COMMAND || misplaced === undefined) {
    return `${problem}; ${usageOf(command)}`;
  }
  const hint = `flags come after the command: perpgate ${misplaced} …`;
  return code === "commander.excessArguments" ? hint : `${problem}; ${hint}`;
}

function usageOf(command: Command | undefined): string {
  const [usage = ""] = command?.usage().split("\n") ?? [];
  return `usage: ${`perpgate ${command?.name()} ${usage}`.trimEnd()} (or --help)`;
}

function commandOf(program: Command, name: string | undefined): Command | undefined {
  return program.commands.find((command) => command.name() === name);
}

/** The options of the default command, for the help of the program. */
function serveOptions(program: Command): string {
  const serve = commandOf(program, DEFAULT_COMMAND);
  const [, options = ""] = serve?.helpInformation().split("\nOptions:\n") ?? [];
  return `Options of serve:\n${options.trimEnd()}`;
}
