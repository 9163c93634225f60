import { VenueStatus } from "../markets/venue-status.js";
import { type Operation, PUBLIC_READ } from "./operation.js";

export const getStatus = {
  id: "getStatus",
  ...PUBLIC_READ,
  path: "/v1/status",
  tag: "service",
  summary: "Release, engine version, stage and markets of the venue",
  costMicros: 40,
  success: { status: 200, description: "The status", schema: VenueStatus },
  errors: [],
} satisfies Operation;
