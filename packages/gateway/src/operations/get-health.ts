import { Type } from "typebox";
import { defineOperation, noBody, noParams, noQuery } from "../http/operation.js";

export const getHealth = defineOperation({
  id: "getHealth",
  method: "GET",
  path: "/healthz",
  tag: "service",
  summary: "Whether the process answers at all",
  access: "public",
  costMicros: 0,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: {
    status: 200,
    description: "It answers",
    schema: Type.Object(
      { status: Type.Literal("ok"), version: Type.String() },
      { title: "Health" },
    ),
  },
  errors: [],
  handle: (_call, { version }) => ({ status: "ok" as const, version }),
});
