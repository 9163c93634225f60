/** The cohort of a running venue: who may open positions, changed through the log like all else. */

import { NO_EVIDENCE, type Venue } from "@perpgate/venue";
import { Ajv, type ValidateFunction } from "ajv";
import { type Static, Type } from "typebox";

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

let compiled: ValidateFunction<CohortChange> | undefined;

/** Compiled when it is first asked, which in most lives of a process is never. */
export function isCohortChange(value: unknown): value is CohortChange {
  compiled ??= new Ajv().compile<CohortChange>(CohortChange);
  return compiled(value);
}

/** Addresses in one command: a record of the log has a bound. */
const ADDRESSES_PER_COMMAND = 1_000;

export class CohortControl {
  constructor(private readonly venue: Venue) {}

  /** Resolves once the change is durable. */
  async change({ stage, allow, disallow }: CohortChange): Promise<void> {
    const parts = Math.max(allow.length, disallow.length, 1);
    for (let from = 0; from < parts; from += ADDRESSES_PER_COMMAND) {
      const part = (addresses: readonly string[]) =>
        addresses.slice(from, from + ADDRESSES_PER_COMMAND).map(plainAddress);
      await this.venue.submitted(
        {
          kind: "SetCohort",
          stampMs: this.venue.nowMs(),
          stage,
          allow: part(allow),
          disallow: part(disallow),
        },
        NO_EVIDENCE,
        () => undefined,
      );
    }
  }
}

/** Lower-case hex without `0x`: how the log names accounts. */
function plainAddress(address: string): string {
  return address.replace(/^0x/i, "").toLowerCase();
}
