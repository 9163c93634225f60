import { VenueStatus } from "../venue-status.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getStatus = {
  id: "getStatus",
  method: "GET",
  path: "/v1/status",
  tag: "service",
  summary: "Release, engine version, stage and markets of the venue",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 40,
  ...NO_INPUT,
  success: { status: 200, description: "The status", schema: VenueStatus },
  errors: [],
} satisfies Operation;
