/**
 * `perpgate doctor`: what would keep a venue from starting, or from being relied on, on this machine and
 * with these settings, and what to do about it. It changes nothing, also next to a venue that runs.
 *
 * Exit code 1 if there is a problem; warnings leave it 0.
 */

import { join, resolve } from "node:path";
import { type StoreWindow, storeWindow } from "@perpgate/venue";
import { Output } from "../cli/output.js";
import { reasonOf } from "../cli/start-error.js";
import type { Tone } from "../cli/style.js";
import { accessOf, gatewayNameOf } from "../cluster/log-access.js";
import { bridgeOf } from "../serve/bridge/settings-bridge.js";
import { readConfiguration } from "../serve/configuration.js";
import { refuseMissingFeeds } from "../serve/index-source.js";
import { linkListenerOf } from "../serve/link-settings.js";
import { refuseUnusablePromises } from "../serve/log-key-file.js";
import { flagSettings, type ServeOptions } from "../serve/options.js";
import { packageFilesFolder, pageFolderOf } from "../serve/page-folder.js";
import { MIB, type Settings } from "../serve/settings.js";
import { signInRulesOf } from "../serve/sign-in-settings.js";
import { checkDisk } from "./disk-checks.js";
import { type Finding, ok, problem, type Status, warning } from "./finding.js";
import {
  checkBacklog,
  checkClock,
  checkHeap,
  checkMemory,
  checkModules,
  checkNode,
  checkOpenFiles,
  checkProcessors,
} from "./machine-checks.js";
import {
  checkControl,
  checkCores,
  checkLink,
  checkPorts,
  checkServers,
  controlProblem,
} from "./network-checks.js";
import { checkVaults, reservesFindings } from "./vault-checks.js";

const TONES: Readonly<Record<Status, Tone>> = { ok: "good", warning: "strong", problem: "bad" };

interface DoctorOptions extends ServeOptions {
  readonly json?: boolean;
}

export async function doctor({ json, ...options }: DoctorOptions): Promise<number> {
  const output = new Output(json === true);
  const findings = await examine(options);
  const count = (wanted: Status) => findings.filter(({ status }) => status === wanted).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  if (output.isJson) output.json({ problems, warnings, checks: findings });
  else printFindings(findings, output);
  if (!output.isJson)
    output.line(`${counted(problems, "problem")}, ${counted(warnings, "warning")}`);
  return problems === 0 ? 0 : 1;
}

async function examine(options: ServeOptions): Promise<readonly Finding[]> {
  const node = checkNode(process.versions.node);
  const modules = await checkModules();
  let settings: Settings;
  try {
    settings = readConfiguration(flagSettings(options), process.env);
  } catch (error) {
    return [node, modules, problem("settings", reasonOf(error), "see docs/configuration.md")];
  }
  const unanswered = await controlProblem(join(settings.data, "control.sock"));
  const isRunning = unanswered === undefined;
  return [
    node,
    modules,
    checkProcessors(),
    checkMemory(settings),
    checkHeap(settings),
    checkOpenFiles(settings),
    checkBacklog(),
    checkClock(settings),
    checkSettings(settings),
    checkBuild(settings),
    ...checkControl(unanswered),
    ...checkDisk(settings, isRunning),
    checkHistory(settings),
    ...(await checkPorts(settings, isRunning)),
    ...(await checkServers(settings)),
    ...checkCores(settings),
    ...checkLink(settings),
    ...(await checkVaults(settings)),
    ...(isRunning ? await reservesFindings(settings) : []),
  ];
}

/** What a start refuses before it opens anything. */
function checkSettings(settings: Settings): Finding {
  try {
    const bridge = bridgeOf(settings, process.env.PERPGATE_ATTESTOR_KEY);
    signInRulesOf(settings, bridge.kind);
    refuseMissingFeeds(settings);
    pageFolderOf(settings);
    refuseUnusablePromises(settings, resolve(settings.data));
    linkListenerOf(settings);
    if (settings.log !== undefined) accessOf(settings.log, gatewayNameOf(settings));
  } catch (error) {
    return problem("settings", reasonOf(error), "see docs/configuration.md");
  }
  return ok("settings", "valid");
}

function checkBuild(settings: Settings): Finding {
  const missing = [
    // The check of the settings names a configured folder without a page.
    ...(settings.server.page === undefined && pageFolderOf(settings) === undefined
      ? ["the page"]
      : []),
    ...(packageFilesFolder() === undefined ? ["the client packages"] : []),
  ];
  return missing.length === 0
    ? ok("build", "the page and the client packages are built")
    : warning("build", `${missing.join(" and ")} will not be served`, "npm start builds them");
}

function printFindings(findings: readonly Finding[], output: Output): void {
  const width = Math.max(...findings.map(({ check }) => check.length));
  for (const { check, status, found, advice } of findings) {
    const mark = output.paint(status.padEnd("problem".length), TONES[status]);
    output.line(`${mark}  ${check.padEnd(width)}  ${found}`);
    if (advice !== undefined) output.line(`${" ".repeat(width + "problem".length + 4)}→ ${advice}`);
  }
}

function counted(count: number, noun: string): string {
  return `${count === 0 ? "no" : count} ${noun}${count === 1 ? "" : "s"}`;
}

const CHECK = "history";
/** Commands that an archive may be behind: it takes thousands a second. */
const MOST_BEHIND = 1_000_000;

/** Which part of the past the venue keeps, and whether its archive keeps up with what is dropped. */
export function checkHistory(settings: Settings): Finding {
  const { hotDays, maxMiB } = settings.history;
  const most = maxMiB === undefined ? "" : `, ${maxMiB} MiB at most`;
  const kept = `rows of ${hotDays} days are kept${most}`;
  let found: StoreWindow | undefined;
  try {
    found = storeWindow(resolve(settings.data));
  } catch (error) {
    const advice = "nothing may keep the venue's user from reading its folder";
    return problem(CHECK, reasonOf(error), advice);
  }
  if (found === undefined) return ok(CHECK, `${kept}; there are none yet`);
  const { bytes, position, historyBefore, archived } = found;
  const oldest =
    historyBefore === null ? "from the beginning on" : `from ${dateOf(historyBefore.time)} on`;
  const has = `${kept}: ${(bytes / MIB).toFixed(1)} MiB up to position ${position}, ${oldest}`;
  if (settings.archive?.postgres === undefined) return ok(CHECK, has);
  const all = `${has}; the archive is at position ${archived}`;
  return position - archived <= MOST_BEHIND
    ? ok(CHECK, all)
    : warning(
        CHECK,
        all,
        "no row that it lacks is dropped: see why it stands still (perpgate archive)",
      );
}

function dateOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
