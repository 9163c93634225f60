/** A NATS server as a child process: finds the program, writes its configuration, starts it. */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, closeSync, constants, mkdirSync, openSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StartError } from "../cli/start-error.js";

export interface NatsPlace {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly clusterPort: number;
  /** Of all servers of the cluster. */
  readonly routes: readonly string[];
}

const HOW_TO_GET_ONE =
  "install nats-server 2.12.3 or later (a package of your system, or a release of nats-io/nats-server) " +
  "and put it on the PATH, or name it with --nats-server FILE";

/** The path of the program. */
export function findNatsServer(given: string | undefined): string {
  const named = given ?? process.env.PERPGATE_NATS_SERVER;
  if (named !== undefined) {
    if (isProgram(named)) return named;
    throw new StartError(`${named} is not a program; ${HOW_TO_GET_ONE}`);
  }
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, "nats-server");
    if (folder !== "" && isProgram(path)) return path;
  }
  throw new StartError(`no nats-server on the PATH; ${HOW_TO_GET_ONE}`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The configuration file of a server that syncs every message and listens on the loopback address. */
function natsConfiguration({ name, folder, port, clusterPort, routes }: NatsPlace): string {
  return [
    `server_name: ${JSON.stringify(name)}`,
    `listen: "127.0.0.1:${port}"`,
    "max_payload: 1MB",
    "jetstream {",
    `  store_dir: ${JSON.stringify(join(folder, "store"))}`,
    "  sync_interval: always",
    "}",
    "cluster {",
    '  name: "perpgate"',
    `  listen: "127.0.0.1:${clusterPort}"`,
    `  routes: [${routes.map((route) => JSON.stringify(route)).join(", ")}]`,
    "}",
    "",
  ].join("\n");
}

/** In a process group of its own: a terminal's Ctrl-C must not end it before the gateways. */
export function startNats(program: string, place: NatsPlace): ChildProcess {
  mkdirSync(place.folder, { recursive: true, mode: 0o700 });
  const file = join(place.folder, "nats.conf");
  writeFileSync(file, natsConfiguration(place), { mode: 0o600 });
  const log = openSync(join(place.folder, "nats.log"), "a", 0o600);
  const child = spawn(program, ["-c", file], { detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  return child;
}
