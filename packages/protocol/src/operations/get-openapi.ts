import { Type } from "typebox";
import { NO_INPUT, type Operation } from "./operation.js";

export const getOpenApi = {
  id: "getOpenApi",
  method: "GET",
  path: "/v1/openapi.json",
  tag: "service",
  summary: "This interface as an OpenAPI 3.1 document",
  access: "public",
  needsVenue: false,
  limit: "reads",
  costMicros: 0,
  ...NO_INPUT,
  success: {
    status: 200,
    description: "The document",
    schema: Type.Record(Type.String(), Type.Unknown()),
  },
  errors: [],
} satisfies Operation;
