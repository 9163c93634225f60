/**
 * Whether the servers sync every write. Clients cannot see that; the servers' monitoring pages show
 * it, where they are enabled and their addresses are given.
 */

import { textOf } from "./errors.js";
import { fieldsOf, isFields } from "./jetstream-api.js";
import type { Findings } from "./stream-config.js";

const PAGE_MS = 2000;

export async function checkSync(monitors: readonly string[]): Promise<Findings> {
  if (monitors.length === 0) {
    const text = "the servers' sync_interval is not visible to clients: make sure it is `always`";
    return { refused: [], warned: [text] };
  }
  const findings: Findings = { refused: [], warned: [] };
  await Promise.all(monitors.map((monitor) => checkOne(monitor, findings)));
  return findings;
}

async function checkOne(monitor: string, { refused, warned }: Findings): Promise<void> {
  try {
    const response = await fetch(`${monitor}/varz`, { signal: AbortSignal.timeout(PAGE_MS) });
    const page: unknown = await response.json();
    const config = fieldsOf(fieldsOf(isFields(page) ? page : {}, "jetstream"), "config");
    if (config.sync_always !== true) {
      refused.push(`the server at ${monitor} must have sync_interval: always`);
    }
  } catch (error) {
    warned.push(`cannot see sync_interval of the server at ${monitor}: ${textOf(error)}`);
  }
}
