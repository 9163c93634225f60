/** Batches of the page: not executed late, with the refusals of its operations. */

import { type BatchAnswer, type NewOperation, PerpgateError, type Session } from "@perpgate/sdk";
import type { Terminal } from "../terminal.js";

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

/** @throws that of the first operation if all were refused; else returns the first refusal, if any. */
export function refusedPart({ results }: Pick<BatchAnswer, "results">): PerpgateError | undefined {
  const refusals = refusalsIn(results);
  if (refusals[0] !== undefined && refusals.length === results.length) throw refusals[0];
  return refusals[0];
}

export function refusalsIn(results: BatchAnswer["results"]): PerpgateError[] {
  return results.flatMap(({ status, error }) =>
    error === undefined ? [] : [new PerpgateError({ ...error, requestId: "" }, { status })],
  );
}
