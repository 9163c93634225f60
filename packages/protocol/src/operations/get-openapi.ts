import { GATEWAY_READ, JSON_DOCUMENT, type Operation } from "./operation.js";

export const getOpenApi = {
  id: "getOpenApi",
  ...GATEWAY_READ,
  path: "/v1/openapi.json",
  tag: "service",
  summary: "This interface as an OpenAPI 3.1 document",
  costMicros: 0,
  success: JSON_DOCUMENT,
  errors: [],
} satisfies Operation;
