/**
 * The log position that a request needs the gateway to have applied: `Perpgate-Min-Position`, and in a
 * venue of several gateways the positions that its token and its path carry. A gateway that lags waits
 * for it, up to a second.
 */

import type { IncomingMessage } from "node:http";
import { ApiError, MIN_POSITION_HEADER } from "@perpgate/protocol/core";

/** How far the log is applied here. */
export interface LogProgress {
  readonly position: number;
  /** Whether other gateways write to the log, so that a position may be ahead of this one. */
  readonly isReplicated: boolean;
  /** Resolves with whether the position was applied in time. */
  reached(position: number): Promise<boolean>;
}

const WHOLE = /^[0-9]{1,16}$/;
/** Ids of orders and acknowledgements are positions. */
const PATH_POSITION = /^\/v1\/(?:orders|preconfirms)\/([0-9]{1,16})(?:[/?]|$)/;
const TOKEN_POSITION = /\.([0-9]{1,16})$/;

/** 0: none. @throws {ApiError} `malformed_request` */
function neededPosition(
  { headers, url = "" }: Pick<IncomingMessage, "headers" | "url">,
  isReplicated: boolean,
): number {
  const stated = headers[MIN_POSITION_HEADER];
  if (stated === undefined && !isReplicated) return 0;
  let needed = 0;
  if (stated !== undefined) {
    if (typeof stated !== "string" || !WHOLE.test(stated)) {
      throw new ApiError("malformed_request", {
        problem: "Perpgate-Min-Position is not a whole number",
      });
    }
    needed = Number(stated);
  }
  if (!isReplicated) return needed;
  const token = TOKEN_POSITION.exec(headers.authorization ?? "")?.[1] ?? "0";
  const path = PATH_POSITION.exec(url)?.[1] ?? "0";
  return Math.max(needed, Number(token), Number(path));
}

/** Calls `proceed` now or once the position is applied; `refuse` if the request or the gateway is late. */
export function whenReached(
  request: Pick<IncomingMessage, "headers" | "url">,
  progress: LogProgress | undefined,
  proceed: () => void,
  refuse: (error: ApiError) => void,
): void {
  if (progress === undefined) {
    proceed();
    return;
  }
  let needed: number;
  try {
    needed = neededPosition(request, progress.isReplicated);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    refuse(error);
    return;
  }
  if (needed <= progress.position) {
    proceed();
    return;
  }
  void progress.reached(needed).then((isReached) => {
    if (isReached) proceed();
    else refuse(lagging(progress));
  });
}

export function lagging({ position }: LogProgress): ApiError {
  return new ApiError("lagging", { position }, { details: { retryAfterMs: 1_000 } });
}
