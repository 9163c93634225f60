import { Type } from "typebox";
import { NO_INPUT, type Operation } from "./operation.js";

export const getHealth = {
  id: "getHealth",
  method: "GET",
  path: "/healthz",
  tag: "service",
  summary: "Whether the process answers at all",
  access: "public",
  needsVenue: false,
  costMicros: 40,
  ...NO_INPUT,
  success: {
    status: 200,
    description: "It answers",
    schema: Type.Object(
      { status: Type.Literal("ok"), version: Type.String() },
      { title: "Health" },
    ),
  },
  errors: [],
} satisfies Operation;
