/** Batches of the page: not executed late, with what came of its operations. */

import type { BatchResult, Order } from "@perpgate/protocol";
import { type BatchAnswer, type NewOperation, PerpgateError, type Session } from "@perpgate/sdk";
import type { Terminal } from "../terminal.js";

/** What came of a request. */
export interface Outcome {
  readonly outcome:
    | "executed"
    | "partly executed"
    | "not executed"
    | "partly filled"
    | "not filled"
    | "outcome unknown";
  /** Why a part was refused. */
  readonly error?: PerpgateError | undefined;
  /** Why an order was not filled: a key of `REASON_TEXTS`. */
  readonly reason?: string | null | undefined;
}

/** An operation of a request; one without an acknowledgement or a cancel was refused. */
type Part = Pick<BatchResult, "status" | "error" | "canceled"> & {
  readonly ack?: Pick<Order, "status" | "filledSize" | "reason">;
};

export function sendBatch(
  { orders }: Terminal,
  session: Session,
  operations: readonly NewOperation[],
  subject: string,
): Promise<Awaited<ReturnType<Session["batch"]>>> {
  return orders.batch(session, operations, subject);
}

/** @throws PerpgateError, that of the first operation that was refused. */
export function requireAll({ results }: Pick<BatchAnswer, "results">): void {
  const [first] = refusalsIn(results);
  if (first !== undefined) throw first;
}

/** An order that the book could not fill is acknowledged too, as canceled. */
export function outcomeOf(parts: readonly Part[]): Outcome {
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
