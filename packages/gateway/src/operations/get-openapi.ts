import { Type } from "typebox";
import { defineOperation, JsonText, noBody, noParams, noQuery } from "../http/operation.js";

export const getOpenApi = defineOperation({
  id: "getOpenApi",
  method: "GET",
  path: "/v1/openapi.json",
  tag: "service",
  summary: "This interface as an OpenAPI 3.1 document",
  access: "public",
  limit: "reads",
  costMicros: 0,
  params: noParams,
  query: noQuery,
  body: noBody,
  success: {
    status: 200,
    description: "The document",
    schema: Type.Record(Type.String(), Type.Unknown()),
  },
  errors: [],
  handle: (_call, { openApi }) => new JsonText(openApi),
});
