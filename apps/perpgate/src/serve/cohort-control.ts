/** Changes of the cohort of a running venue, who may open positions, as commands in its log. */

import { cohortCommands, type Venue } from "@perpgate/venue";
import { Ajv } from "ajv";
import { type Static, Type } from "typebox";
import { submitOperatorCommand } from "./operator-command.js";

const Address = Type.String({ pattern: "^(0[xX])?[0-9a-fA-F]{40}$" });

export const CohortChange = Type.Object(
  {
    stage: Type.Enum(["closed", "allowlist", "open"]),
    allow: Type.Array(Address),
    disallow: Type.Array(Address),
  },
  { additionalProperties: false },
);
export type CohortChange = Static<typeof CohortChange>;

/** Compiles the schema on each call: changes are rare. */
export function isCohortChange(value: unknown): value is CohortChange {
  return new Ajv({ meta: false, validateSchema: false }).validate<CohortChange>(
    CohortChange,
    value,
  );
}

const CohortShown = Type.Object({
  stage: Type.Enum(["closed", "allowlist", "open"]),
  /** Addresses with `0x`, ascending. */
  allow: Type.Array(Type.String()),
});
type CohortShown = Static<typeof CohortShown>;

export function isCohortShown(value: unknown): value is CohortShown {
  return new Ajv({ meta: false, validateSchema: false }).validate<CohortShown>(CohortShown, value);
}

export class CohortControl {
  constructor(private readonly venue: Venue) {}

  /** Who may open positions now. */
  show(): CohortShown {
    const { cohortStage: stage, allowlist } = this.venue.views;
    return { stage, allow: allowlist.map((address) => `0x${address}`) };
  }

  /** Resolves once the change is durable. */
  async change({ stage, allow, disallow }: CohortChange): Promise<void> {
    const lists = {
      stage,
      allow: allow.map(plainAddress),
      disallow: disallow.map(plainAddress),
    };
    for (const command of cohortCommands(lists, this.venue.nowMs())) {
      await submitOperatorCommand(this.venue, command);
    }
  }
}

/** Lower-case hex without `0x`, as in the log. */
export function plainAddress(address: string): string {
  return address.replace(/^0x/i, "").toLowerCase();
}
