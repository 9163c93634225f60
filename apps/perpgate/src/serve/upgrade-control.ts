/** Activates the next version of the engine's rules in a running venue, as a command in its log. */

import { ENGINE_VERSION, type Venue } from "@perpgate/venue";
import { operatorTimes, submitOperatorCommand } from "./operator-command.js";

export class UpgradeControl {
  constructor(private readonly venue: Venue) {}

  /** Returns the version in force from now on; rejects if this release knows no newer one. */
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
    await submitOperatorCommand(venue, { kind: "Upgrade", ...operatorTimes(venue), version });
    return version;
  }
}
