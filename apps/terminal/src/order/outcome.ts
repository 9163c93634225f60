/** What came of a request, and of each operation of a batch. */

import type { BatchResult, Order } from "@perpgate/protocol";
import { type BatchAnswer, PerpgateError } from "@perpgate/sdk";

/** What came of a request. */
export interface ShownOutcome {
  readonly outcome:
    | "executed"
    | "partly executed"
    | "not executed"
    | "partly filled"
    | "not filled"
    | "outcome unknown";
  /** Why a part was refused. */
  readonly error?: PerpgateError | undefined;
  /** Why an order was not filled: one of `reasons.ts`. */
  readonly reason?: string | null | undefined;
}

/** An operation of a request; one without an acknowledgement or a cancel was refused. */
type Part = Pick<BatchResult, "status" | "error" | "canceled"> & {
  readonly ack?: Pick<Order, "status" | "filledSize" | "reason">;
};

/** @throws PerpgateError, that of the first operation that was refused. */
export function requireAll({ results }: Pick<BatchAnswer, "results">): void {
  const [first] = refusalsIn(results);
  if (first !== undefined) throw first;
}

/** An order that the book could not fill is acknowledged too, as canceled. */
export function shownOutcome(parts: readonly Part[]): ShownOutcome {
  const short = parts.filter(({ ack, canceled }) =>
    ack === undefined ? canceled === undefined : ack.status === "canceled",
  );
  const [first] = short;
  if (first === undefined) return { outcome: "executed" };
  const isNothing =
    short.length === parts.length && short.every(({ ack }) => (ack?.filledSize ?? 0) === 0);
  const areFills = parts.every(({ ack }) => ack?.status === "filled" || ack?.status === "canceled");
  return {
    outcome: `${isNothing ? "not" : "partly"} ${areFills ? "filled" : "executed"}` as const,
    error: refusalsIn([first])[0],
    reason: first.ack?.reason,
  };
}

export function refusalsIn(results: readonly Pick<Part, "status" | "error">[]): PerpgateError[] {
  return results.flatMap(({ status, error }) =>
    error === undefined ? [] : [new PerpgateError({ ...error, requestId: "" }, { status })],
  );
}
