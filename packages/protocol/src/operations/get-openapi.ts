import { JSON_DOCUMENT, NO_INPUT, type Operation } from "./operation.js";

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
  success: JSON_DOCUMENT,
  errors: [],
} satisfies Operation;
