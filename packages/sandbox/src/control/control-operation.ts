/** One operation of the control API: its route, its checks, its page in OpenAPI and what it does. */

import type { Static, TObject, TSchema } from "typebox";
import type { ControlledSandbox } from "./controlled-sandbox.js";

export interface ControlOperation<B extends TObject = TObject> {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  /** An empty object: the operation takes nothing. */
  readonly body: B;
  readonly answer: TSchema;
  run(sandbox: ControlledSandbox, body: Static<B>): Promise<object>;
}

/** Keeps the type of the body between its schema and `run`. */
export function control<B extends TObject>(operation: ControlOperation<B>): ControlOperation<B> {
  return operation;
}
