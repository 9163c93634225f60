import { ApiError } from "@perpgate/protocol";
import { Type } from "typebox";
import { defineOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getReadiness = defineOperation({
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "service",
  summary: "Whether traffic should be sent here",
  access: "public",
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
  handle: (_call, { readiness }) => {
    for (const probe of readiness) {
      const reason = probe.notReadyReason();
      if (reason !== undefined) {
        throw new ApiError("not_ready", { reason }, { details: { probe: probe.name } });
      }
    }
    return { status: "ready" as const };
  },
});
