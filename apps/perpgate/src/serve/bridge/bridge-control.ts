/** The operator's changes of deposits in a running venue, as commands in its log. */

import type { Venue } from "@perpgate/venue";
import { Ajv } from "ajv";
import { type Static, Type } from "typebox";
import { operatorTimes, submitOperatorCommand } from "../operator-command.js";

const DepositId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const PAUSE_SCOPES = ["ethereum", "arbitrum", "tron", "USDC", "USDT"] as const;

export const BridgeChange = Type.Union([
  Type.Object(
    { action: Type.Enum(["pause", "resume"]), scope: Type.Enum(PAUSE_SCOPES) },
    { additionalProperties: false },
  ),
  Type.Object(
    { action: Type.Enum(["rejudge", "settle"]), depositId: DepositId },
    { additionalProperties: false },
  ),
  Type.Object({ action: Type.Literal("commit") }, { additionalProperties: false }),
]);
export type BridgeChange = Static<typeof BridgeChange>;

export class BridgeControl {
  constructor(private readonly venue: Venue) {}

  /** Compiles the schema on each call: changes are rare. */
  isChange(value: unknown): value is BridgeChange {
    return new Ajv({ meta: false, validateSchema: false }).validate<BridgeChange>(
      BridgeChange,
      value,
    );
  }

  /** Resolves once the change is durable; rejects with the reason for a refusal. */
  async change(change: BridgeChange): Promise<void> {
    if (change.action === "commit" && this.venue.reserves?.isCommitting !== true)
      throw new Error(
        "this venue commits to no reserves: it has no chains, no log key or an older engine version",
      );
    await submitOperatorCommand(this.venue, this.commandOf(change));
  }

  private commandOf(change: BridgeChange) {
    const times = operatorTimes(this.venue);
    switch (change.action) {
      case "rejudge":
        return { kind: "RejudgeDeposit", ...times, depositId: change.depositId } as const;
      case "settle":
        return { kind: "SettleReorgedDeposit", ...times, depositId: change.depositId } as const;
      case "commit":
        return { kind: "CountReserves", ...times } as const;
      default: {
        const isPaused = change.action === "pause";
        return { kind: "PauseDeposits", ...times, scope: change.scope, isPaused } as const;
      }
    }
  }
}
