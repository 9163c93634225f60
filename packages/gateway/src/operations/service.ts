import { ApiError } from "@perpgate/protocol/core";
import {
  getAsyncApi,
  getHealth,
  getOpenApi,
  getReadiness,
  getStatus,
  getTime,
} from "@perpgate/protocol/operations";
import { handle, handleByVenue, JsonText } from "./handler.js";

export const SERVICE_HANDLERS = [
  handleByVenue(getTime, (_, venue) => venue.publicReads.time()),
  handleByVenue(getStatus, async (_, venue, { version }) => ({
    release: version,
    ...(await venue.publicReads.status()),
  })),
  handle(getOpenApi, (_, { openApi }) => new JsonText(openApi)),
  handle(getAsyncApi, (_, { asyncApi }) => new JsonText(asyncApi)),
  handle(getHealth, (_, { version }) => ({ status: "ok" as const, version })),
  handle(getReadiness, (_, { readiness, venue }) => {
    for (const probe of readiness) {
      const reason = probe.notReadyReason();
      if (reason !== undefined) {
        throw new ApiError("not_ready", { reason }, { details: { probe: probe.name } });
      }
    }
    return { status: "ready" as const, ...venue?.publicReads.conflict() };
  }),
];
