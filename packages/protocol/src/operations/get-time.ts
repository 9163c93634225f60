import { VenueTime } from "../venue-status.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getTime = {
  id: "getTime",
  method: "GET",
  path: "/v1/time",
  tag: "service",
  summary: "The venue's clock",
  access: "public",
  needsVenue: true,
  limit: "reads",
  costMicros: 20,
  ...NO_INPUT,
  success: { status: 200, description: "The time", schema: VenueTime },
  errors: [],
} satisfies Operation;
