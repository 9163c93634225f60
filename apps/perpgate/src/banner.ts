/** What an operator sees first: where to look, what is made up, and who may sign in. */

import type { RunningPerpgate } from "./serve.js";

export function bannerText(perpgate: RunningPerpgate, version: string): string {
  const { url, hasPage, dataFolder, acceptsAnyDomain, indexSource, bridge } = perpgate;
  const prices = indexSource === "simulated" ? "prices are simulated" : "prices come from feeds";
  return [
    `Perpgate ${version} — TESTNET: balances are not money, ${prices}.`,
    ...(hasPage ? [`  trade      ${url}/`] : []),
    `  interface  ${url}/v1/markets`,
    `  docs       ${url}/docs`,
    `  OpenAPI    ${url}/v1/openapi.json`,
    `  health     ${url}/healthz  ${url}/readyz  ${url}/metrics`,
    `  data       ${dataFolder}`,
    `  deposits   ${depositsText(bridge)}`,
    ...(acceptsAnyDomain
      ? ["  sign-in    any domain, since only this machine can ask; others need auth.domains"]
      : []),
    "",
  ].join("\n");
}

function depositsText(bridge: RunningPerpgate["bridge"]): string {
  if (bridge.kind === "dev") {
    return "DEV ATTESTOR: any hash is credited, nothing is checked on any chain";
  }
  const { chains, quorum, members, attestors } = bridge;
  const names = chains.map(({ chain }) => chain).join(", ");
  return `${names}; ${quorum} of ${members.length} attestors credit, ${attestors.length} run here`;
}
