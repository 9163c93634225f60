/** The commands of a cluster and their options. */

import type { Command } from "commander";
import { addCommand, addSubcommand, exitWith } from "../cli/command.js";
import { wholeNumberWithin } from "../cli/values.js";
import { addSettingOptions } from "../serve/options.js";

const replicas = wholeNumberWithin("--replicas", 1, 5);
const maxBytes = wholeNumberWithin("--max-bytes", 1_048_576, Number.MAX_SAFE_INTEGER);
const port = (name: string) => wholeNumberWithin(name, 1, 65_530);

export function addClusterCommands(program: Command): void {
  const cluster = addCommand(program, "cluster", {
    summary: "begin, run and repair a venue of several machines",
    usage: ["<init|up|status|step-down|join|leave|reseed> [options]"],
    about: `A venue of several cores over one replicated log, on NATS JetStream (docs/cluster.md). One core
leads; the others follow, and take over from it.

  up         three servers, and three gateways with a core each, on this machine
  init       create the stream of a new venue and publish its beginning, once
  status     a row per gateway, and a row per core
  step-down  have another core lead
  join       copy the data folder of a peer for a new gateway
  leave      stop the gateway of a data folder; a core that leads hands over first
  reseed     build the stream again from a mirror, after the servers have lost it`,
    examples: [
      ["cluster up", "a cluster on this machine, until Ctrl-C"],
      ["cluster init --log nats://10.0.0.1:4222 --config venue.json", "once, for a new venue"],
      ["cluster status --url http://10.0.0.1:8080", "who leads, and how far each core is"],
      ["cluster step-down --data /var/lib/perpgate", "before the machine that leads is maintained"],
    ],
  });
  addUp(cluster);
  addInit(cluster);
  addStatus(cluster);
  addStepDown(cluster);
  addJoin(cluster);
  addLeave(cluster);
  addReseed(cluster);
}

function addUp(cluster: Command): void {
  addSubcommand(
    cluster,
    "up",
    "three NATS servers, and three gateways with a core each, on this machine, until Ctrl-C",
  )
    .option("--dir <DIR>", "everything that they store (.cluster)")
    .option("--config <FILE>", "JSON configuration file of the gateways")
    .option(
      "--port <N>",
      "of the first gateway (8080); the others and the cores' links follow",
      port("--port"),
    )
    .option("--nats-port <N>", "of the first server (4222); the others follow", port("--nats-port"))
    .option("--nats-server <FILE>", "the program (nats-server on the PATH)")
    .option("--no-bots", "start without bots")
    .action(exitWith(async (options) => (await import("./up.js")).up(options)));
}

function addInit(cluster: Command): void {
  addSettingOptions(
    addSubcommand(cluster, "init", "create the stream of a new venue, and publish its beginning"),
  )
    .option("--replicas <N>", "servers that store each message (3)", replicas)
    .option("--max-bytes <N>", "limit of the stream, with alarms before it (none)", maxBytes)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./init.js")).init(options)));
}

function addStatus(cluster: Command): void {
  addSubcommand(
    cluster,
    "status",
    "a row per gateway and per core; exit code 1 unless all are ready",
  )
    .option(
      "--url <URL>",
      "a gateway; may be repeated (those of cluster up)",
      (url: string, before: readonly string[]) => [...before, url],
      [],
    )
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (options) => (await import("./status.js")).clusterStatusCommand(options)),
    );
}

function addStepDown(cluster: Command): void {
  addSubcommand(cluster, "step-down", "have another core lead, and say how long it took")
    .option("--data <DIR>", "data folder of the core that leads (.data)  [PERPGATE_DATA]")
    .option("--to <NAME>", "the core that is to lead (any that is able)")
    .option("--json", "JSON for programs")
    .action(
      exitWith(async (options) =>
        (await import("../operator/controls.js")).stepDownCommand(options),
      ),
    );
}

/** Needed when the stream no longer begins at the venue's beginning, and faster than reading all of it. */
function addJoin(cluster: Command): void {
  addSubcommand(
    cluster,
    "join",
    "copy a peer's log and snapshots, and the history of a pruned log, and verify them",
  )
    .requiredOption("--from <DIR>", "the peer's data folder, also while it runs, or a backup of it")
    .requiredOption("--data <DIR>", "the new data folder; missing or empty")
    .option("--json", "JSON for programs")
    .action(
      exitWith(async ({ from, data, ...rest }) =>
        (await import("../operator/backup.js")).backup({ ...rest, data: from, to: data }),
      ),
    );
}

function addLeave(cluster: Command): void {
  addSubcommand(cluster, "leave", "stop the gateway of a data folder; its core hands over first")
    .option("--data <DIR>", "its data folder (.data)  [PERPGATE_DATA]")
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("../operator/controls.js")).leave(options)));
}

function addReseed(cluster: Command): void {
  addSettingOptions(
    addSubcommand(
      cluster,
      "reseed",
      "build the stream again from the mirror in --data, all gateways stopped",
    ),
  )
    .option("--replicas <N>", "servers that store each message (3)", replicas)
    .option("--max-bytes <N>", "limit of the stream, as at cluster init (none)", maxBytes)
    .option("--json", "JSON for programs")
    .action(exitWith(async (options) => (await import("./reseed.js")).reseedCommand(options)));
}
