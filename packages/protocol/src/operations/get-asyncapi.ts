import { GATEWAY_READ, JSON_DOCUMENT, type Operation } from "./operation.js";

export const getAsyncApi = {
  id: "getAsyncApi",
  ...GATEWAY_READ,
  path: "/v1/asyncapi.json",
  tag: "service",
  summary: "The socket and its streams as an AsyncAPI 3 document",
  costMicros: 0,
  success: JSON_DOCUMENT,
  errors: [],
} satisfies Operation;
