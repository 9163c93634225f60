/** Checks of ports, and of the servers of a replicated log. */

import { connect } from "node:net";
import { addressOf, isAtLeast, MIN_SERVER } from "@perpgate/cluster";
import { codeOf, reasonOf } from "../cli/start-error.js";
import { gatewayNameOf } from "../cluster/log-access.js";
import { linkIdentityUntil, linkListenerOf, placeText } from "../serve/link-settings.js";
import { listenProblem, metricsPortOf } from "../serve/ports.js";
import type { Settings } from "../serve/settings.js";
import { type Finding, ok, problem, warning } from "./finding.js";

const DAY_MS = 86_400_000;
const FEW_DAYS = 30;
const ANSWER_MS = 3_000;
const LEAST_PAYLOAD = 2 ** 20;

export async function checkPorts(
  settings: Settings,
  isRunning: boolean,
): Promise<readonly Finding[]> {
  const { host, port, metrics } = settings;
  const main = await checkPort("port", host, port, isRunning, "--port");
  const wanted = metricsPortOf(settings);
  if (wanted === false) return [main];
  const other = await checkPort("metrics port", metrics.host, wanted, isRunning, '"metrics.port"');
  const isDefault = metrics.port === undefined && other.status === "problem";
  return [main, isDefault ? { ...other, status: "warning" } : other];
}

async function checkPort(
  check: string,
  host: string,
  port: number,
  isRunning: boolean,
  setting: string,
): Promise<Finding> {
  if (port === 0) return ok(check, "a free one is chosen");
  const error = await listenProblem(host, port);
  const place = `${host}:${port}`;
  if (error === undefined) return ok(check, `${place} is free`);
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return isRunning
        ? ok(check, `${place} is taken; a venue runs on this data folder`)
        : problem(
            check,
            `${place} is taken`,
            `choose another with ${setting}, or stop what uses it`,
          );
    case "EACCES":
      return problem(check, `${place} needs privileges`, `choose one above 1023 with ${setting}`);
    case "EADDRNOTAVAIL":
      return problem(check, `${host} is no address of this machine`, "choose another with --host");
    default:
      return problem(check, `${place}: ${reasonOf(error)}`, `choose another with ${setting}`);
  }
}

/** The error of a connection to the control socket of a data folder; undefined if a process answers. */
export function controlProblem(path: string): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once("error", resolve);
  });
}

/** Without access nobody can say whether a venue runs there. */
export function checkControl(error: unknown): readonly Finding[] {
  if (codeOf(error) !== "EACCES") return [];
  const advice = "a venue may be running: run doctor as its user";
  return [problem("control socket", reasonOf(error), advice)];
}

/** The certificate that edges on other machines are shown; problems are those of the settings. */
export function checkLink(settings: Settings): readonly Finding[] {
  const check = "link.listen";
  try {
    const listener = linkListenerOf(settings);
    if (listener === undefined) return [];
    const until = linkIdentityUntil(listener.identity);
    const place = placeText(listener.place);
    const days = Math.floor((until.getTime() - Date.now()) / DAY_MS);
    const found = `edges may link at ${place}; the certificate ends in ${days} days`;
    if (days >= FEW_DAYS) return [ok(check, found)];
    const advice =
      "make new certificates with perpgate keygen, and restart: no edge links after that";
    return [days < 0 ? problem(check, found, advice) : warning(check, found, advice)];
  } catch {
    return [];
  }
}

/** Whether this machine's core is one of those that lead by turns, and its edges reach the others. */
export function checkCores(settings: Settings): readonly Finding[] {
  const { log, link } = settings;
  if (log === undefined) return [];
  const check = "cores";
  const { cores } = log;
  if (cores === undefined) {
    const advice = "name the cores there, in the order in which they take over";
    return [problem(check, "log.cores is missing", advice)];
  }
  const name = gatewayNameOf(settings);
  const place = cores.indexOf(name) + 1;
  if (place === 0) {
    const advice = "add it on every machine, or start with the --name that is there";
    return [problem(check, `${name} is not in log.cores`, advice)];
  }
  const found = `${name} is number ${place} of ${cores.length}`;
  const others = cores.length - 1;
  const linked = link.listen === undefined ? 0 : (link.cores ?? []).length;
  if (linked >= others) return [ok(check, found)];
  const advice =
    "set link.listen, link.cores and link.tls, so that all edges reach the core that leads";
  return [problem(check, `${found}; links lead to ${linked} of ${others} others`, advice)];
}

/** One finding per server, and one if no majority can be reached. */
export async function checkServers({ log }: Settings): Promise<readonly Finding[]> {
  if (log === undefined) return [];
  const each = await Promise.all(log.servers.map(checkServer));
  const reached = each.filter(({ status }) => status === "ok").length;
  const isMajority = reached > log.servers.length / 2;
  if (isMajority) {
    return each.map((finding) =>
      finding.status === "problem" ? { ...finding, status: "warning" } : finding,
    );
  }
  const found = `${reached} of ${log.servers.length} servers can be used`;
  return [
    ...each,
    problem("log", found, "a majority must run: see docs/operating.md, Several machines"),
  ];
}

/** A NATS server sends its description to everyone who connects, before anyone signs in. */
async function checkServer(url: string): Promise<Finding> {
  const check = `server ${url}`;
  let info: ServerInfo;
  try {
    info = await serverInfo(url);
  } catch (error) {
    const advice = "start nats-server there, or correct log.servers";
    return problem(check, reasonOf(error), advice);
  }
  const { version = "", jetstream = false, max_payload: payload = 0 } = info;
  const found = `nats-server ${version}`;
  if (!isAtLeast(version, MIN_SERVER)) {
    return problem(check, found, `install nats-server ${MIN_SERVER} or later`);
  }
  if (!jetstream) return problem(check, `${found} without JetStream`, "add a jetstream block");
  if (payload < LEAST_PAYLOAD) {
    return problem(check, `${found}, max_payload ${payload}`, "set max_payload to 1MB or more");
  }
  return ok(check, found);
}

interface ServerInfo {
  readonly version?: string;
  readonly jetstream?: boolean;
  readonly max_payload?: number;
}

function serverInfo(url: string): Promise<ServerInfo> {
  return new Promise((resolve, reject) => {
    const socket = connect(addressOf(url));
    let text = "";
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("it does not answer")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("it closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n");
      if (end === -1) return;
      try {
        if (!text.startsWith("INFO ")) throw new Error("it is no NATS server");
        resolve(JSON.parse(text.slice("INFO ".length, end)));
      } catch (error) {
        reject(error);
      }
      socket.destroy();
    });
  });
}
