import { describe, expect, test } from "vitest";
import { type Command, commandHelp, parseArguments } from "./cli/command.js";
import { UsageError } from "./cli/start-error.js";
import { COMMANDS } from "./program.js";

async function commandOf(name: string): Promise<Command> {
  const entry = COMMANDS.get(name);
  if (entry === undefined) throw new Error(`no command ${name}`);
  return entry.load();
}

describe("help", () => {
  test.each([...COMMANDS.keys()])("%s: its usage, every option and an example", async (name) => {
    const command = await commandOf(name);
    const text = commandHelp(command);
    expect(text).toMatch(new RegExp(`^Usage: perpgate ${name}\\b`));
    for (const option of Object.keys(command.options)) expect(text).toContain(`  --${option}`);
    expect(text).toMatch(new RegExp(`\\nExamples:\\n {2}perpgate ${name}\\b`));
    expect(text.split("\n").filter((line) => [...line].length > 120)).toEqual([]);
  });

  test("every example can be parsed", async () => {
    for (const name of COMMANDS.keys()) {
      const command = await commandOf(name);
      for (const [call] of command.examples) {
        const [called, ...words] = call.split(" ");
        expect(called).toBe(name);
        expect(() => parseArguments(command, words)).not.toThrow();
      }
    }
  });
});

test.each<[string, string]>([
  ["buy", "<symbol> is missing"],
  ["buy BTCUSD", "<margin> is missing"],
  ["buy BTC/USD 1", '"BTC/USD" is no symbol'],
  ["buy BTCUSD 1,500", 'margin: "1,500" is not a plain number above 0'],
  ["buy BTCUSD 0", 'margin: "0" is not a plain number above 0'],
  ["buy BTCUSD 1e3", 'margin: "1e3" is not a plain number above 0'],
  ["buy BTCUSD 1 2", 'unexpected argument "2"'],
  ["buy BTCUSD 1 --leverage 1.5", '--leverage: "1.5" is not a whole number'],
  ["buy BTCUSD 1 --price 1 --stop 2", "give one of --price, --stop and --worst-price"],
  ["sell BTCUSD 1 --post-only", "--post-only needs --price"],
  ["buy BTCUSD 1 --nonce 9007199254740993", "is not a whole number"],
  ["buy BTCUSD 1 --lever 5", "Unknown option '--lever'"],
  ["cancel", "<order id> is missing"],
  ["cancel --all 7", "give order ids or --all"],
  ["cancel 7 --symbol BTCUSD", "--symbol goes with --all"],
  ["cancel 0x7", '"0x7" is no order id'],
  ["watch", "<stream> is missing"],
  ["watch bok.BTCUSD", '"bok.BTCUSD" is no stream, such as trades.BTCUSD'],
  ["watch blocks --count 0", "--count is at least 1"],
  ["book BTCUSD --depth 0", "--depth is 1 to 1000"],
  ["login --profile ../x", '"../x" is no name for a profile'],
  ["login --expires-in 1day", '--expires-in: "1day" is no duration'],
  ["markets --url ftp://x", '"ftp://x" is no address of a gateway'],
  ["markets --url http://[", '"http://[" is no address of a gateway'],
  ["deposit --chain solana", "--chain is one of ethereum, arbitrum, tron"],
  ["keygen wallet", "<file> is missing"],
  ["keygen toString x", '"toString" is no kind of key'],
  ["cohort ajar", "a stage is closed, allowlist or open"],
  ["cohort open --allow 0x12", "an address 40 hex digits"],
  ["backup", "--to is missing"],
  ["attest", "--venue must be the gateway's http address"],
])("written wrongly: perpgate %s", async (call, problem) => {
  const [name = "", ...words] = call.split(" ");
  const command = await commandOf(name);
  const run = async () => command.run(parseArguments(command, words));
  const error: unknown = await run().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  expect(error).toMatchObject({ message: expect.stringContaining(problem), exitCode: 2 });
});
