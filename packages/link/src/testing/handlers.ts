import { ApiError } from "@perpgate/protocol/core";
import type { RequestHandlers } from "../core-link.js";
import { type EdgeNotice, type NoticeHandlers, REQUESTS } from "../frames.js";

/** Refuses everything but what is given. */
export function handlersWith(changes: Partial<RequestHandlers> = {}): RequestHandlers {
  const refuse = (): never => {
    throw new ApiError("not_found", { path: "/nothing" });
  };
  const names = Object.keys(REQUESTS).map((name) => [name, refuse]);
  return { ...Object.fromEntries(names), ...changes };
}

/** Ignores what edges tell. */
export const NO_NOTICES: NoticeHandlers<EdgeNotice> = {
  follow: () => undefined,
  unfollow: () => undefined,
  unfollowAccount: () => undefined,
};
