import { VenueTime } from "../markets/venue-status.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getTime = {
  id: "getTime",
  ...PUBLIC_READ,
  path: "/v1/time",
  tag: "service",
  summary: "The venue's clock",
  costMicros: 20,
  success: { status: 200, description: "The time", schema: VenueTime },
  errors: [],
} satisfies Operation;
