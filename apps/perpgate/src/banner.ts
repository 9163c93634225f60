/** What an operator sees first: where to look, and that nothing here is money. */

import type { RunningPerpgate } from "./serve.js";

export function bannerText({ url, dataFolder }: RunningPerpgate, version: string): string {
  return [
    `Perpgate ${version} — TESTNET: balances are not money, prices are simulated.`,
    `  interface  ${url}/v1/markets`,
    `  docs       ${url}/docs`,
    `  OpenAPI    ${url}/v1/openapi.json`,
    `  health     ${url}/healthz  ${url}/readyz  ${url}/metrics`,
    `  data       ${dataFolder}`,
    "  No venue is attached yet: operations that need one answer 503 venue_unavailable.",
    "",
  ].join("\n");
}
