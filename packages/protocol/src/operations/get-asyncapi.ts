import { JSON_DOCUMENT, NO_INPUT, type Operation } from "./operation.js";

export const getAsyncApi = {
  id: "getAsyncApi",
  method: "GET",
  path: "/v1/asyncapi.json",
  tag: "service",
  summary: "The socket and its streams as an AsyncAPI 3 document",
  access: "public",
  needsVenue: false,
  limit: "reads",
  costMicros: 0,
  ...NO_INPUT,
  success: JSON_DOCUMENT,
  errors: [],
} satisfies Operation;
