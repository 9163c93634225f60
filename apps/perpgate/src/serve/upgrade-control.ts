/** Activates the next version of the engine's rules in a running venue, as a command in its log. */

import { ENGINE_VERSION, type Venue } from "@perpgate/venue";
import type { ClusterLink } from "../cluster/log-access.js";
import { operatorTimes, submitOperatorCommand } from "./operator-command.js";

export class UpgradeControl {
  constructor(
    private readonly venue: Venue,
    private readonly cluster?: Pick<ClusterLink, "cores" | "status"> | undefined,
  ) {}

  /** Returns the version in force from now on; rejects if this release, or another core, knows no newer one. */
  async upgrade(): Promise<number> {
    const { venue } = this;
    const current = venue.views.engineVersion;
    if (current >= ENGINE_VERSION) {
      throw new Error(
        `nothing is newer: the venue runs engine version ${current}, ` +
          `the newest that this release knows is ${ENGINE_VERSION}`,
      );
    }
    const version = current + 1;
    this.refuseUnread(version);
    await submitOperatorCommand(venue, { kind: "Upgrade", ...operatorTimes(venue), version });
    return version;
  }

  /** The log knows the versions of the core that leads alone; those that stand by say theirs. */
  private refuseUnread(version: number): void {
    const heard = this.cluster?.status()?.cores ?? [];
    for (const name of this.cluster?.cores ?? []) {
      const core = heard.find(({ heartbeat }) => heartbeat.core === name);
      if (core === undefined)
        throw new Error(`core ${name} is not heard: start it, or take it out`);
      const [, newest] = core.heartbeat.versions;
      if (newest >= version) continue;
      throw new Error(`core ${name} cannot read version ${version}: update all cores first`);
    }
  }
}
