import { Type } from "typebox";
import { LogConflict } from "../markets/venue-status.js";
import { NO_INPUT, type Operation } from "./operation.js";

export const getReadiness = {
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "service",
  summary: "Whether traffic should be sent here",
  access: "public",
  needsVenue: false,
  costMicros: 60,
  ...NO_INPUT,
  success: {
    status: 200,
    description: "Every probe passes",
    schema: Type.Object(
      { status: Type.Literal("ready"), conflict: Type.Optional(LogConflict) },
      { title: "Readiness" },
    ),
  },
  errors: ["not_ready"],
} satisfies Operation;
