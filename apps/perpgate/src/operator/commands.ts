/** The operator's commands and their options. */

import type { Command } from "commander";
import { addCommand, exitWith } from "../cli/command.js";
import {
  amount,
  durationOption,
  oneOf,
  repeated,
  symbol,
  wholeNumberWithin,
} from "../cli/values.js";
import { addClusterCommands } from "../cluster/commands.js";
import { addServeOptions, addSettingOptions } from "../serve/options.js";
import { addDataFolderCommands } from "./data-commands.js";
import { DATA_HELP } from "./data-option.js";
import { addVaultCommands } from "./vault-commands.js";

export function addOperatorCommands(program: Command): void {
  program.commandsGroup("Operate:");
  addServe(program);
  addEdge(program);
  addDoctor(program);
  addConfig(program);
  addKeys(program);
  addDataFolderCommands(program);
  addControls(program);
  addVaultCommands(program);
  addMarket(program);
  addUpgrade(program);
  addConfigure(program);
  addClusterCommands(program);
  addBench(program);
}

function addServe(program: Command): void {
  addServeOptions(program.command("serve", { isDefault: true }))
    .summary("run the gateway (the default)")
    .description(
      "Runs the venue and its gateway. Every option but the last two is also an environment variable.",
    )
    .action(async (options) => (await import("../serve/run.js")).runServer(options));
}

function addEdge(program: Command): void {
  const command = addCommand(program, "edge", {
    summary: "run edges for a core on another machine",
    usage: ["--core HOST:PORT[,HOST:PORT…] --ca FILE --cert FILE --key FILE [options of serve]"],
    about: `Serves clients from this machine for a venue whose core is elsewhere: REST, sockets, the page. The
core listens with link.listen; both sides show a certificate of the venue's own authority, which
perpgate keygen makes. Several cores may be given, the one that leads is asked. It keeps nothing: stop,
kill and start it at any moment. Options of serve that are the core's have no effect.`,
    examples: [
      [
        "edge --core 10.0.0.1:7700 --ca ca.pem --cert edge.pem --key edge.key --region tokyo",
        "until stopped",
      ],
    ],
  });
  addSettingOptions(command)
    .option("--core <PLACES>", "where the cores listen for edges, separated by commas")
    .option("--ca <FILE>", "the certificate of the venue's authority for links")
    .option("--cert <FILE>", "the certificate of this edge")
    .option("--key <FILE>", "its key")
    .action(async (options) => (await import("../serve/run-edge.js")).runEdge(options));
}

function addDoctor(program: Command): void {
  const command = addCommand(program, "doctor", {
    summary: "check this machine and these settings before a start",
    usage: ["[--data DIR] [--config FILE] [--port N] [--log SERVERS] [--json]"],
    about: `Checks what a venue needs: Node, native modules, processors, memory, open files, the clock, the
settings, the data folder, its disk, locks and syncs, the ports, and the servers of a replicated log.
Each line says ok, warning or problem, and what to do. It takes the options of serve, changes nothing,
and may run while the venue does. Exit code 1 if there is a problem.`,
    examples: [
      ["doctor", "before the first start"],
      ["doctor --config /etc/perpgate.json --json", "for a program"],
    ],
  });
  addSettingOptions(command)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("../doctor/doctor.js")).doctor(options)));
}

function addConfig(program: Command): void {
  const command = addCommand(program, "config", {
    summary: "print the settings in force, or all that there are",
    usage: ["[--config FILE] [--port N]… [--json]", "--catalog [--json]"],
    about: `Prints every setting in force, its value, and whether it comes from the command line, the
environment, the file or the default. It takes the options of serve, and opens nothing. With --catalog
it prints every setting that there is: what it takes, its bounds and unit, and its default. Keys,
passwords and what of an address may hold one are hidden.`,
    examples: [
      ["config --config /etc/perpgate.json", "what a start with this file would use"],
      ["config --catalog", "what a file may have"],
    ],
  });
  addSettingOptions(command)
    .option("--catalog", "every setting that there is")
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./config.js")).showConfig(options)));
}

const KEY_KINDS = ["wallet", "session", "attestor", "log", "authority", "core", "edge"] as const;

function addKeys(program: Command): void {
  addCommand(program, "keygen", {
    summary: "make a key: of a wallet, a session, an attestor, a log or a link",
    usage: [
      "wallet|session|attestor|log <file> [--name N] [--json]",
      "authority|core|edge <file> [--ca FILE] [--name N] [--days N] [--json]",
    ],
    about: `Makes a key in a file of mode 0600 and prints its public part. A file that exists is
never overwritten.

  wallet    an Ethereum account for perpgate login --key-file; prints its address
  session   an Ed25519 key for perpgate login --session-key-file; prints its public key
  attestor  an Ed25519 key for bridge.keyFiles of the configuration; prints its public key
  log       the key of a transparency log, for receipts.logKey; prints its verifier key

Links between machines need certificates. These make two files, file.key and file.pem, for link.tls, and
print the certificate's SHA-256:

  authority the venue's own authority; its key stays off the venue's machines
  core      of a core that listens for edges, by the authority of --ca
  edge      of the edges of one machine, by the authority of --ca`,
    examples: [
      ["keygen wallet ~/perpgate-wallet.key", "an account of your own"],
      ["keygen authority ca", "ca.key and ca.pem"],
      ["keygen edge tokyo --ca ca", "tokyo.key and tokyo.pem"],
    ],
  })
    .argument("<kind>", KEY_KINDS.join(", "), oneOf("kind", KEY_KINDS))
    .argument("<file>", "must not exist")
    .option("--name <N>", "of a log: a URL without https://; of a certificate: its name")
    .option("--ca <FILE>", "of a core or an edge: the authority's files, without .key and .pem")
    .option(
      "--days <N>",
      "of a certificate: how long it is valid (825; an authority's 3650)",
      wholeNumberWithin("--days", 1, 36_500),
    )
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (kind, file, options) =>
        (await import("./keygen.js")).keygen(kind, file, options),
      ),
    );
  addCommand(program, "attest", {
    summary: "run attestors without a venue",
    usage: ["--venue URL[,URL…] --config FILE [--metrics-port PORT]"],
    about: `Runs the attestors of a configuration without a venue: they watch the chains through their own
RPC addresses and send their votes to a venue elsewhere. The process stores nothing. Metrics, health
and readiness are served on the address of metrics.host, which is loopback by default.`,
    examples: [["attest --venue https://gateway.example --config attestor.json", "until stopped"]],
  })
    .option("--venue <URLs>", "the gateways that take the votes, separated by commas")
    .option("--config <FILE>", "JSON configuration file with a bridge")
    .option(
      "--metrics-port <PORT>",
      "of /metrics, /healthz and /readyz (9465, or a free one)",
      wholeNumberWithin("--metrics-port", 0, 65_535),
    )
    .action(exitWith(async (options) => (await import("./attest.js")).attest(options)));
  addCommand(program, "relay", {
    summary: "send attestors' signatures to a vault, and pay",
    usage: ["--venue URL[,URL…] --chain CHAIN --rpc URL[,URL…] --key-file FILE [--max-fee GWEI]"],
    about: `Sends the signatures of open withdrawals to the vault of a chain and finalizes them after their
dispute period (docs/withdrawals.md). Anyone may run it with a key that has some ether for the gas; the key
moves nothing else. It keeps nothing: stop, kill and start it at any moment.`,
    examples: [
      [
        "relay --venue https://venue.example --chain arbitrum --rpc https://rpc.example --key-file gas.key",
        "pays",
      ],
    ],
  })
    .requiredOption("--venue <URLs>", "the gateways, separated by commas")
    .requiredOption(
      "--chain <CHAIN>",
      "ethereum or arbitrum",
      oneOf("--chain", ["ethereum", "arbitrum"]),
    )
    .requiredOption("--rpc <URLs>", "endpoints of the chain, separated by commas")
    .requiredOption("--key-file <FILE>", "a wallet's key that pays the gas")
    .option("--max-fee <GWEI>", "nothing is sent while gas costs more", "100")
    .option("--every <DURATION>", "pause between two polls", durationOption("--every"), 6_000)
    .option(
      "--metrics-port <PORT>",
      "of /metrics, /healthz and /readyz (9465, or a free one)",
      wholeNumberWithin("--metrics-port", 0, 65_535),
    )
    .action(exitWith(async (options) => (await import("./relay.js")).relay(options)));
}

function addControls(program: Command): void {
  addCommand(program, "bridge", {
    summary: "pause deposits, judge one again, settle a reorganised one, commit to the reserves",
    usage: [
      "<pause|resume> <CHAIN|TOKEN> [--data DIR]",
      "<rejudge|settle> DEPOSIT [--data DIR]",
      "commit [--data DIR]",
    ],
    about: `Pauses or resumes the credits and rejections of a chain or token, lets attestors judge a
rejected deposit again, settles a credit whose transaction left its chain, or has the venue commit to
what it owes now, before the next hour. The venue that serves the data folder must be running; the change
is in its log, and stays.`,
    examples: [
      ["bridge pause ethereum", "no deposit on Ethereum is credited or rejected until resume"],
      ["bridge rejudge 48213", "after a wrong configuration rejected a valid deposit"],
      ["bridge commit", "perpgate reserves shows the new commitment within seconds"],
    ],
  })
    .argument("<action>", "pause, resume, rejudge, settle or commit")
    .argument("[target]", "a chain, a token or the number of a deposit")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (action, target, options) =>
        (await import("./controls.js")).changeBridge(action, target, options),
      ),
    );
  addCommand(program, "cohort", {
    summary: "change who may open positions",
    usage: [
      "<closed|allowlist|open> [--allow ADDRESS]… [--disallow ADDRESS]… [--data DIR]",
      "show [--data DIR]",
    ],
    about: `Changes who may open positions: nobody, those on the list, everyone. Makers and bots count like
anyone: an order that rests is canceled where a trade would open with an account outside. Closing is
always allowed, but with everyone outside it finds nobody but others who close. The venue that serves
the data folder must be running; the change is in its log, and stays.`,
    examples: [
      ["cohort show", "the stage, and who is on the list"],
      ["cohort open", "everyone may trade"],
      [
        "cohort allowlist --allow 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "those on the list, and this one",
      ],
    ],
  })
    .argument("<stage>", "closed, allowlist or open; or show")
    .option("--allow <ADDRESS>", "add to the list; may be repeated", repeated, [])
    .option("--disallow <ADDRESS>", "remove from the list; may be repeated", repeated, [])
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (stage, options) =>
        (await import("./controls.js")).changeCohort(stage, options),
      ),
    );
}

function addMarket(program: Command): void {
  addCommand(program, "market", {
    summary: "make a market reduce-only, halt, resume or settle it",
    usage: [
      "<SYMBOL> <reduce-only|halt|resume> [--data DIR]",
      "<SYMBOL> settle --price P [--data DIR]",
    ],
    about: `Controls one market of a running venue; the change is in its log, and stays.

  reduce-only  what would open is canceled and refused; closing, funding and liquidation go on
  halt         only cancels are accepted
  resume       active again; nothing is liquidated or triggered before a fresh index
  settle       for good: all orders are canceled, all positions closed at the price; losers pay at
               most their margin, then the fund while it is above zero, then winners are scaled down in proportion`,
    examples: [
      ["market SOLUSD reduce-only", "before a delisting: nobody opens, everybody may close"],
      ["market SOLUSD settle --price 151.25", "the end of the market"],
    ],
  })
    .argument("<symbol>", "a listed market", symbol)
    .argument("<action>", "reduce-only, halt, resume or settle")
    .option("--price <P>", "of settle: every position is closed at it", amount("--price"))
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (symbol, action, options) =>
        (await import("./controls.js")).changeMarket(symbol, action, options),
      ),
    );
}

function addUpgrade(program: Command): void {
  addCommand(program, "upgrade", {
    summary: "activate the next version of the engine's rules",
    usage: ["[--data DIR] [--json]"],
    about: `Activates the next version of the engine's rules that the release knows, from the next command of
the log on. Open orders stay. The venue that serves the data folder must be running; the change is in
its log, and there is no way back. Exit code 1 if the release knows no newer version.`,
    examples: [["upgrade --data .data", "after a release with new rules was installed"]],
  })
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./controls.js")).upgradeCommand(options)));
}

function addConfigure(program: Command): void {
  addCommand(program, "configure", {
    summary: "append a changed configuration to the log of a running venue",
    usage: ["--config FILE [--data DIR] [--json]"],
    about: `Appends the markets, the risk parameters and the attestors of a configuration file to the log of
a running venue. The gateways of a cluster do not apply a changed file at their start.`,
    examples: [["configure --config venue.json", "after a market was added to the file"]],
  })
    .requiredOption("--config <FILE>", "JSON configuration file")
    .option("--data <DIR>", DATA_HELP)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./controls.js")).configureCommand(options)));
}

function addBench(program: Command): void {
  addCommand(program, "bench", {
    summary: "measure this checkout",
    usage: ["[--only PARTS] [--full] [--json]"],
    about: `Measures this checkout: engine, journal, orders, streams and recovery in one table, each compared
with a floor or a peer. It is npm run bench, takes about two minutes, and needs an idle machine.`,
    examples: [["bench --only engine --json", "the engine's figures, for a program"]],
  })
    .option("--only <A,B>", "only these parts, such as engine,orders")
    .option("--full", "full runs instead of short ones, about ten minutes")
    .option("--json", "the figures as JSON")
    .action(exitWith(async (options) => (await import("./bench.js")).bench(options)));
}
