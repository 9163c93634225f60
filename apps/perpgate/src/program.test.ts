import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { completionScript } from "./cli/completion.js";
import { UsageError } from "./cli/start-error.js";
import { durationOption } from "./cli/values.js";
import { createProgram, runProgram } from "./program.js";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function commands(): readonly Command[] {
  return createProgram().commands.filter(
    (command) => command.name() !== "serve" && command.name() !== "help",
  );
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

describe("help", () => {
  test.each(commands().map((command) => [command.name(), command] as const))(
    "%s: usage, every option, an example",
    (name, command) => {
      const text = helpOf(command);
      expect(text).toMatch(new RegExp(`^Usage: perpgate ${name}\\b`));
      for (const { long } of command.options) expect(text).toContain(`  ${long}`);
      expect(text).toMatch(new RegExp(`\\nExamples:\\n {2}perpgate ${name}\\b`));
      expect(text.split("\n").filter((line) => [...line].length > 120)).toEqual([]);
    },
  );

  test.each(["--help", "verify --help"])("%s to a reader that is gone: exit code 0", (call) => {
    // The pipe is closed before the command writes to it.
    const piped = `sleep 0.2; exec "$0" "$1" ${call}`;
    const { stderr, status } = spawnSync(
      "bash",
      ["-c", `set -o pipefail; (bash -c '${piped}' "$0" "$1") | true`, process.execPath, MAIN],
      { encoding: "utf8" },
    );
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  test("every example: parses", async () => {
    for (const command of commands()) {
      const examples = helpOf(command).matchAll(/^ {2}perpgate (.*?) +# /gm);
      for (const [, call = ""] of examples) {
        const program = createProgram();
        let ran = "";
        for (const one of program.commands) {
          for (const each of [one, ...one.commands]) {
            each.action(() => {
              ran = one.name();
            });
          }
        }
        await runProgram(program, call.split(" "));
        expect(ran, call).toBe(command.name());
      }
    }
  });

  test("of the program: every command and every option of serve", () => {
    const text = helpOf(createProgram());
    for (const command of commands()) expect(text).toContain(`  ${command.name()} `);
    for (const flag of ["--port", "--host", "--data", "--config", "--no-bots", "--log-level"]) {
      expect(text).toContain(`  ${flag}`);
    }
    expect(text).toContain("--accept-loss");
  });
});

test.each<[string, string]>([
  ["buy", "missing required argument 'symbol'"],
  ["buy BTCUSD", "give a margin or --size"],
  ["buy BTC/USD 1", '"BTC/USD" is not a symbol'],
  ["buy BTCUSD 1,500", 'margin: "1,500" is not a plain number above 0'],
  ["buy BTCUSD 0", 'margin: "0" is not a plain number above 0'],
  ["buy BTCUSD 1e3", 'margin: "1e3" is not a plain number above 0'],
  ["buy BTCUSD 1 2", "too many arguments for 'buy'"],
  ["buy BTCUSD 1 --leverage 1.5", '--leverage: "1.5" is not a whole number'],
  ["buy BTCUSD 1 --price 1 --stop 2", "give one of --price, --stop, --take and --worst-price"],
  ["sell BTCUSD 1 --post-only", "--post-only needs --price"],
  ["buy BTCUSD 1 --nonce 9007199254740993", "is not a whole number"],
  ["buy BTCUSD 1 --lever 5", "unknown option '--lever'"],
  ["buy BTCUSD 1 --levrage 5", "(Did you mean --leverage?)"],
  ["buy BTCUSD 1 --limit 5", "--limit needs --stop or --take"],
  ["close BTCUSD --part 200%", '--part: "200%" is not a part, such as 50% or 0.5'],
  ["close BTCUSD --price 1 --worst-price 2", "give --price or --worst-price, not both"],
  ["protect BTCUSD", "give --tp, --sl, --no-tp or --no-sl"],
  ["fills --order 7 --limit 3", "--order shows all fills"],
  ["candles BTCUSD --resolution 2m", "--resolution must be one of 1m, 5m"],
  ["completion csh", "shell must be one of bash, zsh, fish"],
  ["cancel", "<order id> is missing"],
  ["cancel --all 7", "give order ids or --all"],
  ["cancel 7 --symbol BTCUSD", "--symbol needs --all"],
  ["cancel 0.7", '"0.7" is not an order id'],
  ["watch", "missing required argument 'streams'"],
  ["watch bok.BTCUSD", '"bok.BTCUSD" is not a stream, such as trades.BTCUSD'],
  ["watch blocks --count 0", "--count must be at least 1"],
  ["book BTCUSD --depth 0", "--depth must be from 1 to 1000"],
  ["login --profile ../x", '"../x" is not a name for a profile'],
  ["login --expires-in 1day", '--expires-in: "1day" is not a duration'],
  ["markets --url ftp://x", '"ftp://x" is not the address of a gateway'],
  ["markets --url http://[", '"http://[" is not the address of a gateway'],
  ["deposit --chain solana", "--chain must be one of ethereum, arbitrum, tron"],
  ["keygen wallet", "missing required argument 'file'"],
  ["keygen toString x", "kind must be one of wallet, session, attestor"],
  ["cohort ajar", "a stage is closed, allowlist or open"],
  ["cohort open --allow 0x12", "an address 40 hex digits"],
  ["market BTCUSD close", "an action is reduce-only, halt, resume or settle"],
  ["market BTCUSD settle", "settle needs --price"],
  ["market BTCUSD halt --price 5", "--price is for settle"],
  ["bridge pause solana", "a chain or token is one of ethereum"],
  ["vault", "a subcommand is missing"],
  ["vault prepare destroy --rpc http://x --vault 0x12 --out x", "action must be one of unlock"],
  ["vault status --rpc ftp://x --vault 0x12", "--rpc begins with http:// or https://"],
  ["vault status --rpc http://x --vault 0x12", '--vault: "0x12" is not an address'],
  ["store", "a subcommand is missing"],
  ["store verify --hashes", "unknown option '--hashes'"],
  ["backup", "give --to DIR or --follow DIR"],
  ["backup --to a --follow b", "give --to DIR or --follow DIR"],
  ["restore", "required option '--from <DIR>' not specified"],
  ["restore --from a --to soon", '--to: "soon" is not a whole number'],
  ["attest", "--venue must be the gateway's http address"],
  ["attest --venue https://a.example,b.example", "or those of several gateways"],
  ["cluster", "a subcommand is missing"],
  ["cluster reseed --accept-loss", "unknown option '--accept-loss'"],
  ["cluster init --accept-clock", "unknown option '--accept-clock'"],
  ["prune --keep-snapshots 0", "--keep-snapshots must be from 1 to 1000"],
])("written wrongly: perpgate %s", async (call, problem) => {
  const [name = ""] = call.split(" ");
  const error: unknown = await runProgram(createProgram(), call.split(" ")).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ message: expect.stringContaining(problem), exitCode: 2 });
  expect(error).toMatchObject({ message: expect.stringContaining(`usage: perpgate ${name}`) });
});

test.each([
  ["postions", "positions"],
  ["ordres", "orders"],
  ["canc", "cancel"],
  ["Buy", "buy"],
])("unknown command %s: did you mean %s", async (word, meant) => {
  await expect(runProgram(createProgram(), [word])).rejects.toMatchObject({
    message: `unknown command "${word}"; did you mean ${meant}?`,
    exitCode: 2,
  });
});

test("unknown command like no other: the help", async () => {
  await expect(runProgram(createProgram(), ["xyzzy"])).rejects.toThrow("try --help");
});

test("durations: seconds, minutes, hours and days", () => {
  expect(["90s", "30m", "8h", "7d"].map(durationOption("--expires-in"))).toEqual([
    90_000, 1_800_000, 28_800_000, 604_800_000,
  ]);
});

describe("completion", () => {
  /** What bash offers for the words, of which the last one is completed. */
  function offered(...words: string[]): string[] {
    const script = `${completionScript(createProgram(), "bash")}
      COMP_WORDS=(perpgate "$@"); COMP_CWORD=$#; _perpgate; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...words], {
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  }

  test("bash: commands, their options, subcommands and theirs", () => {
    expect(offered("pos")).toEqual(["positions"]);
    expect(offered("")).toContain("protect");
    expect(offered("buy", "BTCUSD", "--st")).toEqual(["--stop"]);
    expect(offered("protect", "--no")).toEqual(["--no-tp", "--no-sl"]);
    expect(offered("cluster", "res")).toEqual(["reseed"]);
    expect(offered("cluster", "reseed", "--")).toContain("--help");
    expect(offered("cluster", "reseed", "--")).not.toContain("--accept-clock");
    expect(offered("xyzzy", "--")).toEqual([]);
  });

  test("zsh and fish: every command and every option", () => {
    for (const shell of ["zsh", "fish"] as const) {
      const script = completionScript(createProgram(), shell);
      for (const command of commands()) {
        expect(script).toMatch(new RegExp(`\\b${command.name()}\\b`));
        for (const { long } of command.options) {
          expect(script).toContain(shell === "fish" ? ` -l ${long?.slice(2)} ` : String(long));
        }
      }
    }
  });
});
