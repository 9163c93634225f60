/** The REST reference: Swagger UI, which reads the OpenAPI document in the browser. */

import { getOpenApi } from "@perpgate/protocol/operations";
import { pageOf } from "./shell.js";

/** Where its script and style are served. */
export const UI_FOLDER = "/docs/static";

export const REST_PAGE = pageOf(
  "REST",
  `<div id="swagger-ui"></div>
<script src="${UI_FOLDER}/swagger-ui-bundle.js"></script>
<script src="${UI_FOLDER}/start.js"></script>`,
  [`${UI_FOLDER}/nav.css`, `${UI_FOLDER}/swagger-ui.css`],
);

/** Without a validator, which would be another host. */
export const UI_START = `SwaggerUIBundle(${JSON.stringify({
  url: getOpenApi.path,
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
})});
`;
