/**
 * The log positions that a request needs the gateway to have applied. `Perpgate-Min-Position` is what
 * the client has seen: a gateway that lags waits for it, up to a second. In a venue of several gateways
 * the token and the path name positions, too. Those may be in no log, as after a reset of a testnet, so
 * the wait for them also ends once the gateway has applied whatever was answered before the request.
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
  /** The same; also true once no gateway can have answered with the position before the call. */
  reachedIfAnswered(position: number): Promise<boolean>;
}

interface NeededPositions {
  /** What the client has seen applied. */
  readonly seen: number;
  /** What its token or its path names. */
  readonly named: number;
}

const WHOLE = /^[0-9]{1,16}$/;
/** Ids of orders and acknowledgements are positions. An amendment may name a client id of digits. */
const PATH_POSITION = /^\/v1\/(?:orders|preconfirms)\/([0-9]{1,16})(?!\/amend(?:\?|$))(?:[/?]|$)/;
const TOKEN_POSITION = /\.([0-9]{1,16})$/;

const NONE: NeededPositions = { seen: 0, named: 0 };

/** @throws {ApiError} `malformed_request` */
function neededPositions(
  { headers, url = "" }: Pick<IncomingMessage, "headers" | "url">,
  isReplicated: boolean,
): NeededPositions {
  const stated = headers[MIN_POSITION_HEADER];
  if (stated === undefined && !isReplicated) return NONE;
  if (stated !== undefined && (typeof stated !== "string" || !WHOLE.test(stated))) {
    throw new ApiError("malformed_request", {
      problem: "Perpgate-Min-Position is not a whole number",
    });
  }
  const seen = Number(stated ?? 0);
  if (!isReplicated) return { seen, named: 0 };
  const token = TOKEN_POSITION.exec(headers.authorization ?? "")?.[1] ?? "0";
  const path = PATH_POSITION.exec(url)?.[1] ?? "0";
  return { seen, named: Math.max(Number(token), Number(path)) };
}

/** Whether the gateway need not wait. */
export function isApplied({ position }: LogProgress, { seen, named }: NeededPositions): boolean {
  return seen <= position && named <= position;
}

/** Resolves with whether the positions were applied in time. */
export async function waitFor(
  progress: LogProgress,
  { seen, named }: NeededPositions,
): Promise<boolean> {
  const reached = [progress.reached(seen), progress.reachedIfAnswered(named)];
  return (await Promise.all(reached)).every((isReached) => isReached);
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
  let needed: NeededPositions;
  try {
    needed = neededPositions(request, progress.isReplicated);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    refuse(error);
    return;
  }
  if (isApplied(progress, needed)) {
    proceed();
    return;
  }
  waitFor(progress, needed).then(
    (isReached) => {
      if (isReached) proceed();
      else refuse(lagging(progress));
    },
    (error: unknown) => {
      refuse(error instanceof ApiError ? error : new ApiError("internal_error", {}));
    },
  );
}

export function lagging({ position }: LogProgress): ApiError {
  return new ApiError("lagging", { position }, { details: { retryAfterMs: 1_000 } });
}
