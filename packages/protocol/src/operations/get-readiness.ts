import { Type } from "typebox";
import { noBody, noParams, noQuery, type Operation } from "./operation.js";

export const getReadiness = {
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "service",
  summary: "Whether traffic should be sent here",
  access: "public",
  needsVenue: false,
  costMicros: 0,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: {
    status: 200,
    description: "Every probe passes",
    schema: Type.Object({ status: Type.Literal("ready") }, { title: "Readiness" }),
  },
  errors: ["not_ready"],
} satisfies Operation;
